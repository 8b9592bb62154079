import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { apiTitle, planTitle } from '../api/apis.ts';
import type { ApiUsage } from '../api/record-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import { words } from '../words/usage.tsx';
import { Quota } from './quota.tsx';
import type { Span } from './spans.ts';
import { StepTable } from './step-table.tsx';
import styles from './usage.module.css';

/** The chart library is large, so load it only with the first chart. */
const UsageChart = lazy(() => import('./usage-chart.tsx'));

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

export function ApiUsagePanel({ usage, span }: { usage: ApiUsage; span: Span }) {
  const { totals, states } = usage;
  return (
    <Panel
      title={apiTitle(usage.api)}
      lead={words.plan(planTitle(usage.plan), count.format(usage.per_minute), count.format(usage.burst))}
      actions={<Quota remaining={usage.remaining} limit={usage.per_minute} resetSeconds={usage.reset_seconds} />}
    >
      <Facts
        facts={[
          [words.allowed, count.format(totals.admitted)],
          [words.limited, count.format(totals.refused)],
          ...(usage.api === 'verify'
            ? ([
                [words.started, count.format(totals.verifications)],
                [words.approved, count.format(totals.approved)],
                [
                  words.conversion,
                  totals.verifications === 0 ? '–' : percent.format(totals.approved / totals.verifications),
                ],
              ] satisfies [string, string][])
            : ([
                [words.messages, count.format(totals.messages)],
                [words.segments, count.format(totals.segments)],
              ] satisfies [string, string][])),
        ]}
      />
      <div className={styles.chart}>
        <Suspense fallback={<Skeleton height={262} />}>
          <UsageChart steps={usage.steps} perMinute={usage.per_minute} span={span} title={apiTitle(usage.api)} />
        </Suspense>
      </div>
      <div className={styles.states}>
        <strong>{usage.api === 'verify' ? words.verificationsByState : words.messagesByState}</strong>
        {Object.keys(states).length === 0 && <span className={styles.quiet}>{words.none}</span>}
        {Object.entries(states).map(([state, number]) => (
          <span key={state} className={styles.state}>
            <Status state={state} /> {count.format(number)}
          </span>
        ))}
      </div>
      <StepTable steps={usage.steps} label={span.label} step={span.step} />
    </Panel>
  );
}
