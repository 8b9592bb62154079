import '@mantine/core/styles/RingProgress.css';
import { RingProgress } from '@mantine/core';
import styles from './usage.module.css';

const count = new Intl.NumberFormat();

/** The requests left in the current minute. */
export function Quota({ remaining, limit, resetSeconds }: { remaining: number; limit: number; resetSeconds: number }) {
  const share = limit === 0 ? 0 : (remaining / limit) * 100;
  const tone = share > 25 ? 'var(--good)' : share > 0 ? 'var(--wait)' : 'var(--bad)';
  return (
    <div className={styles.quota}>
      <RingProgress
        size={64}
        thickness={7}
        roundCaps
        rootColor="var(--sunken)"
        sections={[{ value: share, color: tone }]}
        aria-hidden="true"
      />
      <div>
        <strong className={styles.left}>
          {count.format(remaining)} of {count.format(limit)}
        </strong>
        <div className={styles.quiet}>
          left this minute{remaining < limit ? `, full again in ${resetSeconds} s` : ''}
        </div>
      </div>
    </div>
  );
}
