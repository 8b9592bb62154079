import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { WebhookTest } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import { outcomeOf } from './webhook-words.tsx';
import styles from './webhooks.module.css';

/** Sends `webhook.test` and shows the answer of the receiver beside the button. */
export function SendTest({ path, onSent }: { path: string; onSent: () => void }) {
  const [outcome, setOutcome] = useState<WebhookTest>();
  const { run, busy, problem } = useAction(async () => {
    setOutcome(undefined);
    setOutcome(await call<WebhookTest>('POST', `${path}/test`));
    onSent();
  });
  return (
    <>
      <div className={styles.test}>
        <Button loading={busy} onClick={() => run()}>
          {words.test.send}
        </Button>
        <span role="status" className={styles.outcome}>
          {busy && words.test.waiting}
          {outcome && (
            <>
              <Status state={outcome.outcome} /> {outcomeOf(outcome)}
            </>
          )}
        </span>
      </div>
      <ProblemCallout problem={problem} />
    </>
  );
}
