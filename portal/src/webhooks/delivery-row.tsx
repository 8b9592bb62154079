import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { WebhookAttempt, WebhookDelivery } from '../api/types.ts';
import { RecordLink } from '../events/record-link.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/webhooks.tsx';
import styles from './webhooks.module.css';

interface DeliveryRowProps {
  applicationId: string;
  delivery: WebhookDelivery;
  /** The webhook's path in the API. */
  path: string;
  onReplay: () => void;
}

/** One event for one webhook; opened, it shows every attempt. */
export function DeliveryRow({ applicationId, delivery, path, onReplay }: DeliveryRowProps) {
  const showToast = useToast();
  const canChange = useCanChange();
  const { event_id, type, subject, sequence, time, status, attempts, next_attempt_at } = delivery;
  const { run, busy, problem } = useAction(async () => {
    await call('POST', `${path}/deliveries/${event_id}/replay`);
    showToast(words.delivery.replayed);
    onReplay();
  });
  return (
    <details className={styles.delivery}>
      <summary>
        <Status state={status} />
        <strong className={styles.type}>{type}</strong>
        <span className={styles.quiet}>{words.delivery.attempts(attempts.length)}</span>
        <span className={styles.quiet}>
          <Time at={time} />
        </span>
      </summary>
      <div className={styles.story}>
        <div className={styles.line}>
          <RecordLink applicationId={applicationId} subject={subject} />
          <span className={styles.quiet}>{words.delivery.numbers(sequence, event_id)}</span>
          {canChange && (
            <Button
              size="xs"
              variant="default"
              loading={busy}
              onClick={() => run()}
              aria-label={words.delivery.replayType(type)}
            >
              {words.delivery.replay}
            </Button>
          )}
        </div>
        <ProblemCallout problem={problem} />
        <Attempts attempts={attempts} />
        {next_attempt_at !== null && (
          <p className={styles.quiet}>
            {words.delivery.next} <Time at={next_attempt_at} />
          </p>
        )}
      </div>
    </details>
  );
}

const columns = [
  words.delivery.time,
  words.delivery.answer,
  { title: words.delivery.duration, number: true as const },
  words.delivery.error,
];

function Attempts({ attempts }: { attempts: WebhookAttempt[] }) {
  return (
    <Table
      label={words.delivery.attemptList}
      columns={columns}
      rows={attempts.map(({ time, status_code, milliseconds, error }) => ({
        key: time,
        cells: [<Time key="time" at={time} />, status_code ?? words.delivery.noAnswer, milliseconds, error ?? '–'],
      }))}
    />
  );
}
