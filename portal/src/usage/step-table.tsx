import type { ApiUsage } from '../api/record-types.ts';
import { ChartNumbers } from '../parts/chart/chart-numbers.tsx';
import { words } from '../words/usage.tsx';

interface StepTableProps {
  steps: ApiUsage['steps'];
  label: (at: string) => string;
  step: string;
}

/** The numbers of the chart, as a table. */
export function StepTable({ steps, label, step }: StepTableProps) {
  const used = steps.filter(({ admitted, refused }) => admitted + refused > 0);
  if (used.length === 0) return null;
  const head = step.charAt(0).toUpperCase() + step.slice(1);
  return (
    <ChartNumbers
      summary={words.steps.show}
      columns={[head, words.allowed, words.limited, words.steps.limit]}
      rows={used.map(({ at, admitted, refused, per_minute }) => ({
        step: label(at),
        numbers: [admitted, refused, per_minute],
      }))}
    />
  );
}
