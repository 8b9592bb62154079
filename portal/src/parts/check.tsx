import type { ReactNode } from 'react';
import styles from './check.module.css';

interface CheckProps {
  label: ReactNode;
  description?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** A checkbox. */
export function Check({ label, description, checked, onChange }: CheckProps) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {label}
        {description !== undefined && <span className={styles.description}>{description}</span>}
      </span>
    </label>
  );
}
