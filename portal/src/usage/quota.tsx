import { words } from '../words/usage.tsx';
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
        <strong className={styles.left}>{words.quota.left(count.format(remaining), count.format(limit))}</strong>
        <div className={styles.quiet}>
          {remaining < limit ? words.quota.fullIn(resetSeconds) : words.quota.thisMinute}
        </div>
      </div>
    </div>
  );
}
