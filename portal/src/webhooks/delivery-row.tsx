import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { WebhookAttempt, WebhookDelivery } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { RecordLink } from '../events/record-link.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useToast } from '../parts/toast.tsx';
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
  const { event_id, type, subject, sequence, time, status, attempts, next_attempt_at } = delivery;
  const { run, busy, problem } = useAction(async () => {
    await call('POST', `${path}/deliveries/${event_id}/replay`);
    showToast('Event queued to be sent again.');
    onReplay();
  });
  return (
    <details className={styles.delivery}>
      <summary>
        <Status state={status} />
        <strong className={styles.type}>{type}</strong>
        <span className={styles.quiet}>{attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}</span>
        <span className={styles.quiet}>
          <Time at={time} />
        </span>
      </summary>
      <div className={styles.story}>
        <div className={styles.line}>
          <RecordLink applicationId={applicationId} subject={subject} />
          <span className={styles.quiet}>
            sequence {sequence} · <code>{event_id}</code>
          </span>
          <Button size="xs" variant="default" loading={busy} onClick={() => run()} aria-label={`Replay ${type}`}>
            Replay
          </Button>
        </div>
        <ProblemCallout problem={problem} />
        <Attempts attempts={attempts} />
        {next_attempt_at !== null && (
          <p className={styles.quiet}>
            Next attempt: <Time at={next_attempt_at} />
          </p>
        )}
      </div>
    </details>
  );
}

const columns = ['Time', 'Answer', { title: 'Milliseconds', number: true as const }, 'Error'];

function Attempts({ attempts }: { attempts: WebhookAttempt[] }) {
  return (
    <Table
      label="Attempts"
      columns={columns}
      rows={attempts.map(({ time, status_code, milliseconds, error }) => ({
        key: time,
        cells: [<Time key="time" at={time} />, status_code ?? 'No answer', milliseconds, error ?? '–'],
      }))}
    />
  );
}
