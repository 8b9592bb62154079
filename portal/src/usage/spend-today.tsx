import { applicationPath } from '../api/call.ts';
import type { Spend } from '../api/operator-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Panel } from '../parts/panel.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/usage.tsx';

const refreshMs = 10_000;
const count = new Intl.NumberFormat();

/** The segments that an application has used today, if there is a limit. */
export function SpendToday({ applicationId }: { applicationId: string }) {
  const { data } = useLoad<Spend>(applicationPath(applicationId, '/spend'), refreshMs);
  if (data === undefined || data.segments_per_day === null) return null;
  const { segments, segments_per_day } = data;
  return (
    <Panel title={words.today.title} lead={words.today.lead}>
      <Facts
        facts={[
          [words.today.sent, count.format(segments)],
          [words.today.limit, count.format(segments_per_day)],
          [words.today.left, count.format(Math.max(0, segments_per_day - segments))],
        ]}
      />
    </Panel>
  );
}
