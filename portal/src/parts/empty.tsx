import type { ReactNode } from 'react';
import styles from './empty.module.css';
import { Mark } from './mark.tsx';

/** Nothing here yet, and what to do about it. */
export function Empty({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <Mark size={44} />
      <strong className={styles.title}>{title}</strong>
      <div className={styles.text}>{children}</div>
      {action}
    </div>
  );
}
