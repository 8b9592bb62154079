import type { Analytics } from '../api/operator-types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Table } from '../parts/table/table.tsx';
import { words } from '../words/analytics.ts';
import { countText, percentText, secondsText } from './number-text.ts';

type Figures = Analytics['all']['total'];

const { table } = words;
const titles = [
  ...[table.texts, table.delivered, table.unreported, table.undelivered, table.failed],
  ...[table.code, table.codeP95, table.phone, table.phoneP95, table.conversion],
];

interface GroupTableProps {
  report: Analytics;
  group: keyof typeof words.groups;
  truncated: string;
}

/** The figures of the whole period, group by group. */
export function GroupTable({ report, group, truncated }: GroupTableProps) {
  const heading = words.groups[group];
  return (
    <Panel title={table.title(heading.toLowerCase())} lead={table.lead}>
      {report.truncated && <Callout tone="wait" title={truncated} />}
      <Table
        label={table.title(heading.toLowerCase())}
        columns={[heading, ...titles.map((title) => ({ title, number: true as const }))]}
        rows={report.data
          .filter(({ total }) => total.texts + total.verifications > 0)
          .map(({ name, total }) => ({
            key: name ?? '',
            cells: [nameText(name, group), ...cellsOf(total)],
          }))}
      />
    </Panel>
  );
}

const regions = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'none' });

function nameText(name: string | null, group: string): string {
  if (name === null) return words.noCountry;
  const region = group === 'country' && /^[A-Z]{2}$/.test(name) ? regions.of(name) : undefined;
  return region === undefined ? name : `${region} (${name})`;
}

function cellsOf(total: Figures): string[] {
  const { conversion, conversion_low: low, conversion_high: high, verifications } = total;
  return [
    countText(total.texts),
    percentText(total.delivered_share),
    ...[total.unreported, total.undelivered, total.failed].map(countText),
    ...[total.code_seconds_median, total.code_seconds_p95, total.seconds_median, total.seconds_p95].map(secondsText),
    conversion === null
      ? percentText(null)
      : table.interval(percentText(conversion), percentText(low), percentText(high), countText(verifications)),
  ];
}
