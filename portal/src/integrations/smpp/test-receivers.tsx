import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/smpp.tsx';
import styles from '../integrations.module.css';

interface Outcome {
  outcome: string;
  milliseconds: number;
}

/** Sends a text to the account's receivers and says whether one acknowledged it. */
export function TestReceivers({ path }: { path: string }) {
  const [result, setResult] = useState<Outcome>();
  const { run, busy, problem } = useAction(async () => {
    setResult(undefined);
    setResult(await call<Outcome>('POST', `${path}/test`));
  });
  return (
    <>
      <div className={styles.outcome}>
        <Button variant="default" loading={busy} onClick={() => run()}>
          {words.test}
        </Button>
        <span className={styles.said} role="status">
          {busy ? words.testing : result && words.outcomes[result.outcome]?.(result.milliseconds)}
        </span>
      </div>
      <ProblemCallout problem={problem} />
    </>
  );
}
