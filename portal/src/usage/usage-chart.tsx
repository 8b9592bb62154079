import { words } from '../words/usage.tsx';
import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import { Switch } from '@mantine/core';
import { useState } from 'react';
import type { ApiUsage } from '../api/record-types.ts';
import StackedBars from '../parts/chart/stacked-bars.tsx';
import { ticksTo } from '../parts/chart/ticks.ts';
import type { Span } from './spans.ts';
import styles from './usage.module.css';

interface UsageChartProps {
  steps: ApiUsage['steps'];
  /** The limit of the plan that the application has now. */
  perMinute: number;
  span: Span;
  title: string;
}

const count = new Intl.NumberFormat();

/** Requests by step, scaled to the traffic; the reader can show the limit as a line. */
export default function UsageChart({ steps, perMinute, span, title }: UsageChartProps) {
  const [withLimit, setWithLimit] = useState(false);
  const limit = perMinute * span.minutes;
  const busiest = Math.max(0, ...steps.map(({ admitted, refused }) => admitted + refused));
  const ticks = ticksTo(withLimit ? Math.max(limit, busiest) : busiest);
  return (
    <>
      <div className={styles.limit}>
        <LimitText steps={steps} perMinute={perMinute} span={span} />
        <Switch
          size="xs"
          label={words.chart.showLimit}
          checked={withLimit}
          onChange={(event) => setWithLimit(event.currentTarget.checked)}
        />
      </div>
      <StackedBars
        label={words.chart.label(title, span.step, textOf(perMinute, span))}
        data={steps.map(({ at, admitted, refused }) => ({ at: span.label(at), admitted, refused }))}
        series={[
          { name: 'admitted', label: words.allowed, color: 'var(--good)' },
          { name: 'refused', label: words.limited, color: 'var(--bad)' },
        ]}
        ticks={ticks}
        {...(withLimit && { line: limit })}
      />
    </>
  );
}

function textOf(perMinute: number, span: Span): string {
  return words.chart.per(count.format(perMinute * span.minutes), span.step);
}

/** The limit of the plan, and those that applied to earlier requests of the chart. */
function LimitText({ steps, perMinute, span }: Omit<UsageChartProps, 'title'>) {
  const earlier = new Set(steps.flatMap(({ per_minute }) => (per_minute === null ? [] : [per_minute])));
  earlier.delete(perMinute);
  return (
    <span>
      {words.chart.limits(
        textOf(perMinute, span),
        [...earlier].map((each) => textOf(each, span)),
      )}
    </span>
  );
}
