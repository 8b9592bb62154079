import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Usage } from '../api/record-types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/overview.ts';
import styles from './overview.module.css';

const words = allWords.today;
const refreshMs = 10_000;
const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

/** The traffic since midnight, in the reader's time zone. */
export function Today({ applicationId }: { applicationId: string }) {
  const from = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  const path = withQuery(applicationPath(applicationId, '/usage'), { from, step: 'hour' });
  const { data, problem, reload } = useLoad<Usage>(path, refreshMs);
  return (
    <Panel title={words.title} actions={<Link href={`/applications/${applicationId}/usage`}>{words.more}</Link>}>
      <ProblemCallout problem={problem} onRetry={reload} />
      <dl className={styles.figures}>
        {(data === undefined ? placeholders : figuresOf(data)).map(({ name, value, detail }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{data === undefined ? <Skeleton height={34} width={80} /> : value}</dd>
            <dd className={styles.detail}>{detail}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

interface Figure {
  name: string;
  value: string;
  detail: string;
}

const placeholders = [words.requests, words.messages, words.delivered, words.conversion].map((name) => ({
  name,
  value: '',
  detail: '\u00a0',
}));

function figuresOf({ data }: Usage): Figure[] {
  const sum = (of: (usage: Usage['data'][number]) => number | undefined) =>
    data.reduce((total, usage) => total + (of(usage) ?? 0), 0);
  const stateSum = (...states: string[]) =>
    states.reduce((total, state) => total + sum(({ api, states: of }) => (api === 'verify' ? 0 : of[state])), 0);
  const limited = sum(({ totals }) => totals.refused);
  const [delivered, failed] = [stateSum('delivered'), stateSum('undelivered', 'failed', 'expired')];
  const [started, approved] = [sum(({ totals }) => totals.verifications), sum(({ totals }) => totals.approved)];
  return [
    {
      name: words.requests,
      value: count.format(sum(({ totals }) => totals.admitted + totals.refused)),
      detail: limited === 0 ? words.noneLimited : words.limited(count.format(limited)),
    },
    {
      name: words.messages,
      value: count.format(sum(({ totals }) => totals.messages)),
      detail: words.segments(count.format(sum(({ totals }) => totals.segments))),
    },
    {
      name: words.delivered,
      value: shareOf(delivered, delivered + failed),
      detail: failed === 0 ? words.noneFailed : words.failed(count.format(failed)),
    },
    {
      name: words.conversion,
      value: shareOf(approved, started),
      detail: words.approved(count.format(approved), count.format(started)),
    },
  ];
}

function shareOf(part: number, whole: number): string {
  return whole === 0 ? '–' : percent.format(part / whole);
}
