import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icon.tsx';
import styles from './callout.module.css';

type Tone = 'good' | 'bad' | 'wait' | 'calm';

const icons: Record<Tone, IconName> = { good: 'check', bad: 'warning', wait: 'warning', calm: 'info' };

interface CalloutProps {
  tone: Tone;
  title?: string;
  /** Set when another element announces it. */
  quiet?: boolean;
  children?: ReactNode;
}

/** A highlighted message. Screen readers announce an error immediately. */
export function Callout({ tone, title, quiet = false, children }: CalloutProps) {
  return (
    <div className={styles.callout} data-tone={tone} role={tone === 'bad' && !quiet ? 'alert' : undefined}>
      <span className={styles.icon}>
        <Icon name={icons[tone]} />
      </span>
      <div className={styles.text}>
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
      </div>
    </div>
  );
}
