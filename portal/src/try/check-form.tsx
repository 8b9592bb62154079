import { Button, Group, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { useAction } from '../api/use-action.ts';
import { Callout } from '../parts/callout.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import type { Update } from '../session/page-state.ts';
import { bodyOf } from './exchange.ts';
import styles from './try-it.module.css';
import type { ApiClient } from './use-api-client.ts';
import type { Outcome, VerifyState } from './verify-state.ts';

interface CheckFormProps {
  client: ApiClient;
  state: VerifyState;
  updateState: Update<VerifyState>;
}

export function CheckForm({ client, state, updateState }: CheckFormProps) {
  const { id, code, outcome } = state;
  const { run, busy, problem } = useAction(async () => {
    const { answer } = await client.send('verify', 'Check the code', `/verify/v1/verifications/${id}`, { code });
    const checked = answer?.status === 200 ? bodyOf<Outcome>(answer) : undefined;
    if (checked) updateState((before) => ({ ...before, outcome: checked }));
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate className={styles.check}>
      <Group align="flex-end">
        <TextInput
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          placeholder="123456"
          flex="1 1 160px"
          maw={240}
          value={code}
          onChange={(event) => {
            const typed = event.currentTarget.value;
            updateState((before) => ({ ...before, code: typed }));
          }}
        />
        <Button type="submit" loading={busy}>
          Check the code
        </Button>
      </Group>
      <ProblemCallout problem={problem} />
      {outcome !== undefined && <OutcomeCallout outcome={outcome} />}
    </form>
  );
}

function OutcomeCallout({ outcome }: { outcome: Outcome }) {
  const { status, valid, reason, attempts_remaining } = outcome;
  if (status === 'approved') return <Callout tone="good" title="Approved: the number is verified." />;
  if (status === 'pending' && valid === false) {
    return (
      <Callout
        tone="wait"
        title={`Wrong code. ${attempts_remaining} ${attempts_remaining === 1 ? 'try is' : 'tries are'} left.`}
      />
    );
  }
  if (status === 'pending') return <Callout tone="calm">Waiting for the code.</Callout>;
  return <Callout tone="bad" title={`The verification is ${status}${reason === null ? '' : ` (${reason})`}.`} />;
}
