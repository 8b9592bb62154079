import type { Total, TotalsReport } from '../../api/operator-types.ts';
import { Table } from '../../parts/table/table.tsx';
import { words } from '../../words/operator/totals.ts';

const count = new Intl.NumberFormat();

const numbers = [
  words.sent,
  words.parts,
  words.attempts,
  words.copies,
  words.inDoubt,
  words.refused,
  words.delivered,
  words.undelivered,
  words.failed,
];
const titles: Record<string, string> = {
  day: words.day,
  carrier: words.carrier,
  country: words.country,
  sender: words.sender,
  application: words.application,
  channel: words.channel,
};

export function TotalsTable({ report: { by, data } }: { report: TotalsReport }) {
  return (
    <Table
      label={words.title}
      columns={[
        ...by.map((group) => titles[group] ?? group),
        ...numbers.map((title) => ({ title, number: true as const })),
      ]}
      rows={data.map((total) => {
        const names = by.map((group) => nameOf(total, group));
        return { key: names.join(' '), cells: [...names, ...countsOf(total)] };
      })}
    />
  );
}

function nameOf(total: Total, group: string): string {
  const { day, carrier, country, sender, channel, application_id } = total;
  return { day, carrier, country, sender, channel, application: application_id }[group] ?? 'unknown';
}

function countsOf(total: Total) {
  const { sent, parts, attempts, copies, in_doubt, refused, delivered, undelivered, failed, expired } = total;
  return [
    ...[sent, parts, attempts, copies, in_doubt, refused].map((each) => count.format(each)),
    ...[delivered, undelivered, failed + expired].map((each) => count.format(each)),
  ];
}
