import type { ReactNode } from 'react';
import { Logo } from '../logo.tsx';
import styles from './empty-state.module.css';

/** Shown instead of an empty list, with the next step. */
export function EmptyState({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.emptyState}>
      <Logo size={44} />
      <strong className={styles.title}>{title}</strong>
      <div className={styles.text}>{children}</div>
      {action}
    </div>
  );
}
