import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { Analytics } from '../api/operator-types.ts';
import { ChartNumbers } from '../parts/chart/chart-numbers.tsx';
import { Panel } from '../parts/panel.tsx';
import { words } from '../words/analytics.ts';
import { words as chart } from '../words/chart.ts';
import styles from './analytics.module.css';
import { type SpanName, stepText } from './period.ts';

/** The chart library is large, so load it only with the first chart. */
const Lines = lazy(() => import('../parts/chart/lines.tsx'));

type Figures = Analytics['all']['total'];

interface LinePanelProps {
  title: string;
  lead: string;
  report: Analytics;
  /** The value that a line shows. */
  read: (figures: Figures) => number | null;
  format: (value: number) => string;
  ticksOf: (most: number) => number[];
}

/** A value over time: a line for each of the largest groups, and on demand the numbers. */
export function LinePanel({ title, lead, report, read, format, ticksOf }: LinePanelProps) {
  const span: SpanName = report.span;
  const lines = report.data
    .map(({ name, steps }, index) => ({
      name: `line-${index}`,
      label: name ?? words.noCountry,
      style: index,
      values: steps.map(read),
    }))
    .filter(({ values }) => values.some((value) => value !== null));
  const most = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const about = chart.chart(title, words.steps[span]);
  const times = report.at.map((at) => stepText(span, at));
  return (
    <Panel title={title} lead={lead}>
      {lines.length === 0 ? (
        <p className={styles.nothing}>{words.nothing}</p>
      ) : (
        <>
          <div className={styles.chart}>
            <Suspense fallback={<Skeleton height={234} />}>
              <Lines
                label={about}
                data={times.map((at, index) => ({
                  at,
                  ...Object.fromEntries(lines.map(({ name, values }) => [name, values[index] ?? null])),
                }))}
                series={lines.map(({ name, label, style }) => ({ name, label, style }))}
                ticks={ticksOf(most)}
                format={format}
              />
            </Suspense>
          </div>
          <ChartNumbers
            summary={chart.numbers}
            columns={[chart.step, ...lines.map(({ label }) => label)]}
            rows={times
              .map((step, index) => ({ step, numbers: lines.map(({ values }) => values[index] ?? null) }))
              .filter(({ numbers }) => numbers.some((value) => value !== null))}
            format={format}
          />
        </>
      )}
    </Panel>
  );
}
