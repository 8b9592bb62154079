import { SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { Traffic as TrafficReport } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { type Counted, CountPanel } from '../../parts/chart/count-panel.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/traffic.ts';

const refreshMs = 5000;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const { requests, submits, ranges, steps } = words;
type Range = keyof typeof ranges;
const hours = { hour: 1, hours: 6 };

const good = 'var(--good)';
const bad = 'var(--bad)';
const wait = 'var(--wait)';
const calm = 'var(--calm)';

/** Throughput and errors of the whole service. */
export default function Traffic() {
  const { values, change } = useFilters({ range: 'hour' });
  const range: Range = values.range in ranges ? (values.range as Range) : 'hour';
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <div>
          <SegmentedControl
            aria-label={words.range}
            value={range}
            onChange={(chosen) => change({ range: chosen })}
            data={Object.entries(ranges).map(([value, label]) => ({ value, label }))}
          />
        </div>
        <Hours key={range} range={range} />
      </Stack>
    </>
  );
}

function Hours({ range }: { range: Range }) {
  const path = withQuery(operatorPath('traffic'), { hours: hours[range] });
  const { data, problem, reload } = useLoad<TrafficReport>(path, refreshMs);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={860} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  const rows: Counted[] = data.data.map(({ at, ...counts }) => ({ at: clock.format(new Date(at)), counts }));
  const { series: ofRequests, ...aboutRequests } = requests;
  const { series: ofSubmits, ...aboutSubmits } = submits;
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      <CountPanel
        {...aboutRequests}
        step={steps[range]}
        rows={rows}
        series={[
          { name: 'admitted', label: ofRequests.admitted, color: good },
          { name: 'refused', label: ofRequests.refused, color: bad },
        ]}
      />
      <CountPanel
        {...aboutSubmits}
        step={steps[range]}
        rows={rows}
        series={[
          { name: 'sent', label: ofSubmits.sent, color: good },
          { name: 'throttled', label: ofSubmits.throttled, color: calm },
          { name: 'in_doubt', label: ofSubmits.in_doubt, color: wait },
          { name: 'rejected', label: ofSubmits.rejected, color: bad },
        ]}
      />
    </>
  );
}
