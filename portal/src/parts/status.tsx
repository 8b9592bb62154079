import styles from './status.module.css';

const tones: Record<string, string> = {
  delivered: 'good',
  active: 'good',
  disabled: 'bad',
  approved: 'good',
  ok: 'good',
  up: 'good',
  down: 'bad',
  bound: 'good',
  ready: 'good',
  passed: 'good',
  failing: 'bad',
  waiting: 'wait',
  connecting: 'wait',
  binding: 'wait',
  unbinding: 'plain',
  'not running': 'bad',
  degraded: 'wait',
  paused: 'wait',
  suspended: 'wait',
  undelivered: 'bad',
  failed: 'bad',
  expired: 'bad',
  blocked: 'bad',
  rejected: 'bad',
  scheduled: 'wait',
  queued: 'wait',
  pending: 'wait',
  accepted: 'good',
  refused: 'bad',
  'in doubt': 'wait',
  sent: 'calm',
  canceled: 'plain',
  unknown: 'plain',
};

/** The state of a record: a word and a colour, never the colour alone. */
export function Status({ state }: { state: string }) {
  return (
    <span className={styles.status} data-tone={tones[state] ?? 'plain'}>
      {state}
    </span>
  );
}

/** The HTTP status of an answer. */
export function HttpStatus({ status }: { status: number }) {
  const tone = status < 300 ? 'good' : status === 429 ? 'wait' : 'bad';
  return (
    <span className={styles.status} data-tone={tone}>
      {status}
    </span>
  );
}

export function Tag({
  children,
  tone = 'plain',
}: {
  children: string;
  tone?: 'plain' | 'calm' | 'wait' | 'good' | 'bad';
}) {
  return (
    <span className={styles.status} data-tone={tone}>
      {children}
    </span>
  );
}
