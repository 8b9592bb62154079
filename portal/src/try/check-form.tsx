import { Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import type { Update } from '../session/page-state.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/try.tsx';
import { bodyOf, type Exchange } from './exchange.ts';
import { ResultLine } from './result-line.tsx';
import { SendButton } from './send-button.tsx';
import styles from './try-it.module.css';
import type { ApiClient } from './use-api-client.ts';
import type { Outcome, VerifyState } from './verify-state.ts';

interface CheckFormProps {
  applicationId: string;
  client: ApiClient;
  state: VerifyState;
  updateState: Update<VerifyState>;
}

export function CheckForm({ applicationId, client, state, updateState }: CheckFormProps) {
  const { id, code, outcome } = state;
  const [result, setResult] = useState<Exchange | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    const exchange = await client.send('verify', words.check.title, `/verify/v1/verifications/${id}`, { code });
    setResult(exchange);
    const { answer } = exchange;
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
          label={words.check.code}
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
        <SendButton label={words.check.title} busy={busy} last={result} />
        {!busy && <ResultLine exchange={result} applicationId={applicationId} />}
      </Group>
      <ProblemCallout problem={problem} />
      {outcome !== undefined && <OutcomeCallout outcome={outcome} />}
    </form>
  );
}

function OutcomeCallout({ outcome }: { outcome: Outcome }) {
  const { status, valid, reason, attempts_remaining } = outcome;
  if (status === 'approved') return <Callout tone="good" title={words.check.approved} />;
  if (status === 'pending' && valid === false) {
    return <Callout tone="wait" title={words.check.wrong(attempts_remaining)} />;
  }
  if (status === 'pending') return <Callout tone="calm">{words.check.pending}</Callout>;
  return <Callout tone="bad" title={words.check.ended(status, reason)} />;
}
