import type { ApiUsage } from '../api/record-types.ts';
import { words } from '../words/usage.tsx';
import styles from './usage.module.css';

interface StepTableProps {
  steps: ApiUsage['steps'];
  label: (at: string) => string;
  step: string;
}

const count = new Intl.NumberFormat();

/** The numbers of the chart, as a table. */
export function StepTable({ steps, label, step }: StepTableProps) {
  const used = steps.filter(({ admitted, refused }) => admitted + refused > 0);
  if (used.length === 0) return null;
  return (
    <details className={styles.numbers}>
      <summary>{words.steps.show}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{step.charAt(0).toUpperCase() + step.slice(1)}</th>
            <th scope="col">{words.allowed}</th>
            <th scope="col">{words.limited}</th>
            <th scope="col">{words.steps.limit}</th>
          </tr>
        </thead>
        <tbody>
          {used.map(({ at, admitted, refused, per_minute }) => (
            <tr key={at}>
              <th scope="row">{label(at)}</th>
              <td>{count.format(admitted)}</td>
              <td>{count.format(refused)}</td>
              <td>{per_minute === null ? '–' : count.format(per_minute)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
