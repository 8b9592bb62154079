import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import styles from './note.module.css';

type Tone = 'good' | 'bad' | 'wait' | 'calm';

const icons: Record<Tone, IconName> = { good: 'check', bad: 'warning', wait: 'warning', calm: 'info' };

interface NoteProps {
  tone: Tone;
  title?: string;
  /** When it is told elsewhere already. */
  quiet?: boolean;
  children?: ReactNode;
}

/** A sentence that must not be overlooked. What went wrong is told to a screen reader at once. */
export function Note({ tone, title, quiet = false, children }: NoteProps) {
  return (
    <div className={styles.note} data-tone={tone} role={tone === 'bad' && !quiet ? 'alert' : undefined}>
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
