import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { words } from '../../words/chart.ts';
import { Facts } from '../facts.tsx';
import { Panel } from '../panel.tsx';
import { ChartNumbers } from './chart-numbers.tsx';
import styles from './count-panel.module.css';
import type { BarSeries } from './stacked-bars.tsx';
import { ticksTo } from './ticks.ts';

/** The chart library is large, so load it only with the first chart. */
const StackedBars = lazy(() => import('./stacked-bars.tsx'));

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** The counts of one step. */
export interface Counted {
  at: string;
  counts: Record<string, number>;
}

interface CountPanelProps {
  title: string;
  lead: string;
  /** The time that one bar covers. */
  step: string;
  rows: Counted[];
  series: BarSeries[];
}

/** Counts by step: their sums, a chart and, on demand, the numbers. */
export function CountPanel({ title, lead, step, rows, series }: CountPanelProps) {
  const sums = series.map(({ name }) => rows.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0));
  const all = sums.reduce((sum, each) => sum + each, 0);
  const heights = rows.map(({ counts }) => series.reduce((sum, { name }) => sum + (counts[name] ?? 0), 0));
  const shareOf = (sum: number) =>
    all === 0 ? count.format(sum) : words.share(count.format(sum), percent.format(sum / all));
  return (
    <Panel title={title} lead={lead}>
      <Facts facts={series.map(({ label }, index) => [label, shareOf(sums[index] ?? 0)])} />
      <div className={styles.chart}>
        {all === 0 ? (
          <p className={styles.nothing}>{words.nothing}</p>
        ) : (
          <Suspense fallback={<Skeleton height={230} />}>
            <StackedBars
              label={words.chart(title, step)}
              data={rows.map(({ at, counts }) => ({ ...counts, at }))}
              series={series}
              ticks={ticksTo(Math.max(...heights))}
            />
          </Suspense>
        )}
      </div>
      {all > 0 && (
        <ChartNumbers
          summary={words.numbers}
          columns={[words.step, ...series.map(({ label }) => label)]}
          rows={rows
            .filter((_, index) => (heights[index] ?? 0) > 0)
            .map(({ at, counts }) => ({ step: at, numbers: series.map(({ name }) => counts[name] ?? 0) }))}
        />
      )}
    </Panel>
  );
}
