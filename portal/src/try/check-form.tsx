import { Button, Group, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { useAction } from '../api/use-action.ts';
import { Note } from '../parts/note.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Keep } from '../session/kept.ts';
import type { Outcome, Trial } from './trial.ts';
import styles from './try-it.module.css';
import type { Caller } from './use-caller.ts';
import { bodyOf } from './wire.ts';

interface CheckFormProps {
  caller: Caller;
  trial: Trial;
  keepTrial: Keep<Trial>;
}

export function CheckForm({ caller, trial, keepTrial }: CheckFormProps) {
  const { id, code, outcome } = trial;
  const { run, busy, problem } = useAction(async () => {
    const { answer } = await caller.send('verify', 'Check the code', `/verify/v1/verifications/${id}`, { code });
    const checked = answer?.status === 200 ? bodyOf<Outcome>(answer) : undefined;
    if (checked) keepTrial((before) => ({ ...before, outcome: checked }));
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
            keepTrial((before) => ({ ...before, code: typed }));
          }}
        />
        <Button type="submit" loading={busy}>
          Check the code
        </Button>
      </Group>
      <ProblemNote problem={problem} />
      {outcome !== undefined && <OutcomeNote outcome={outcome} />}
    </form>
  );
}

function OutcomeNote({ outcome }: { outcome: Outcome }) {
  const { status, valid, reason, attempts_remaining } = outcome;
  if (status === 'approved') return <Note tone="good" title="Approved: the number is verified." />;
  if (status === 'pending' && valid === false) {
    return (
      <Note
        tone="wait"
        title={`Wrong code. ${attempts_remaining} ${attempts_remaining === 1 ? 'try is' : 'tries are'} left.`}
      />
    );
  }
  if (status === 'pending') return <Note tone="calm">Waiting for the code.</Note>;
  return <Note tone="bad" title={`The verification is ${status}${reason === null ? '' : ` (${reason})`}.`} />;
}
