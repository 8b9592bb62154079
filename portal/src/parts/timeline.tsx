import type { TimelineEntry } from '../api/record-types.ts';
import { Time } from './time.tsx';
import styles from './timeline.module.css';

const bad = ['refused', 'failed', 'undelivered', 'expired', 'blocked', 'rejected'];
const good = ['delivered', 'approved'];

/** The events of a record or a request, oldest first. */
export function Timeline({ entries }: { entries: TimelineEntry[] }) {
  const startMs = entries[0] === undefined ? 0 : Date.parse(entries[0].at);
  return (
    <ol className={styles.timeline}>
      {entries.map((entry) => (
        <li key={`${entry.at} ${entry.event} ${entry.detail}`} className={styles.entry} data-tone={toneOf(entry.event)}>
          <div className={styles.head}>
            <strong>{entry.event}</strong>
            <span className={styles.when}>
              <Time at={entry.at} /> · {sinceStart(Date.parse(entry.at) - startMs)}
            </span>
          </div>
          <div className={styles.detail}>{entry.detail}</div>
        </li>
      ))}
    </ol>
  );
}

function toneOf(event: string): string {
  if (bad.includes(event)) return 'bad';
  return good.includes(event) ? 'good' : 'plain';
}

function sinceStart(ms: number): string {
  if (ms < 1000) return `+${ms} ms`;
  return ms < 120_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${Math.round(ms / 60_000)} min`;
}
