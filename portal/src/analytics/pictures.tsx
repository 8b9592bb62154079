import { Skeleton } from '@mantine/core';
import type { Analytics } from '../api/operator-types.ts';
import { CountPanel } from '../parts/chart/count-panel.tsx';
import { ticksTo } from '../parts/chart/ticks.ts';
import { Facts } from '../parts/facts.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/analytics.ts';
import styles from './analytics.module.css';
import { GroupTable } from './group-table.tsx';
import { LinePanel } from './line-panel.tsx';
import { countText, percentText, secondsText } from './number-text.ts';
import { type Measure, type SpanName, stepText } from './period.ts';

const refreshMs = 30_000;
const { outcomes, facts } = words;

interface PicturesProps {
  path: string;
  group: keyof typeof words.groups;
  measure: Measure;
  /** The message of the table when groups are missing from it. */
  truncated: string;
}

/** All figures of a period: sums, pictures and a table. */
export function Pictures({ path, group, measure, truncated }: PicturesProps) {
  const { data: report, problem, reload } = useLoad<Analytics>(path, refreshMs);
  if (report === undefined) {
    return problem === undefined ? <Skeleton height={900} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  const { total } = report.all;
  if (total.texts + total.verifications === 0)
    return <EmptyState title={words.none.title}>{words.none.next}</EmptyState>;
  const span: SpanName = report.span;
  const shared = { report, format: percentText, ticksOf: () => [0, 0.25, 0.5, 0.75, 1] };
  const timed = { report, format: secondsText, ticksOf: ticksTo };
  const lead = (text: string) =>
    report.data.length > 1 ? `${text} ${words.topOnly(Math.min(5, report.data.length))}` : text;
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      <Panel>
        <Facts facts={factsOf(total)} />
      </Panel>
      <CountPanel
        title={outcomes.title}
        lead={outcomes.lead}
        step={words.steps[span]}
        rows={report.at.map((at, index) => ({ at: stepText(span, at), counts: countsOf(report.all.steps[index]) }))}
        series={[
          { name: 'delivered', label: outcomes.series.delivered, color: 'var(--good)' },
          { name: 'unreported', label: outcomes.series.unreported, color: 'var(--series-5)' },
          { name: 'undelivered', label: outcomes.series.undelivered, color: 'var(--series-2)' },
          { name: 'failed', label: outcomes.series.failed, color: 'var(--bad)' },
        ]}
      />
      <div className={styles.grid}>
        <LinePanel
          {...shared}
          title={words.share.title}
          lead={lead(words.share.lead)}
          read={(figures) => figures.delivered_share}
        />
        <LinePanel
          {...shared}
          title={words.conversion.title}
          lead={lead(words.conversion.lead)}
          read={(figures) => figures.conversion}
        />
        <LinePanel
          {...timed}
          title={words.code.title}
          lead={lead(words.code.lead)}
          read={(figures) => figures[`code_seconds_${measure}`]}
        />
        <LinePanel
          {...timed}
          title={words.phone.title}
          lead={lead(words.phone.lead)}
          read={(figures) => figures[`seconds_${measure}`]}
        />
      </div>
      <GroupTable report={report} group={group} truncated={truncated} />
    </>
  );
}

function countsOf(step: Analytics['all']['total'] | undefined): Record<string, number> {
  const { delivered = 0, unreported = 0, undelivered = 0, failed = 0 } = step ?? {};
  return { delivered, unreported, undelivered, failed };
}

function factsOf(total: Analytics['all']['total']): [string, string][] {
  const times = (median: number | null, p95: number | null) =>
    median === null ? secondsText(null) : facts.times(secondsText(median), secondsText(p95));
  return [
    [facts.texts, countText(total.texts)],
    [facts.delivered, percentText(total.delivered_share)],
    [facts.code, times(total.code_seconds_median, total.code_seconds_p95)],
    [facts.phone, times(total.seconds_median, total.seconds_p95)],
    [
      facts.conversion,
      total.conversion === null
        ? percentText(null)
        : facts.ofVerifications(percentText(total.conversion), countText(total.verifications)),
    ],
  ];
}
