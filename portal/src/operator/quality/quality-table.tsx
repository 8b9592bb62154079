import type { Total, TotalsReport } from '../../api/operator-types.ts';
import { Table } from '../../parts/table/table.tsx';
import { words } from '../../words/operator/quality.ts';

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

const numbers = [
  words.sent,
  words.parts,
  words.attempts,
  words.copies,
  words.inDoubt,
  words.delivered,
  words.undelivered,
  words.failed,
  words.quality,
];
const titles: Record<string, string> = {
  day: words.day,
  carrier: words.carrier,
  country: words.country,
  sender: words.sender,
  application: words.application,
};

export function QualityTable({ report: { by, data } }: { report: TotalsReport }) {
  return (
    <Table
      label={words.quality}
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
  const { day, carrier, country, sender, application_id } = total;
  return { day, carrier, country, sender, application: application_id }[group] ?? 'unknown';
}

function countsOf(total: Total) {
  const { sent, parts, attempts, copies, in_doubt, delivered, undelivered, failed } = total;
  return [
    ...[sent, parts, attempts, copies, in_doubt].map((each) => count.format(each)),
    withShare(delivered, sent),
    ...[undelivered, failed].map((each) => count.format(each)),
    qualityText(total),
  ];
}

function withShare(part: number, whole: number): string {
  return whole === 0 ? count.format(part) : `${count.format(part)} (${percent.format(part / whole)})`;
}

function qualityText({ quality, quality_low, quality_high, codes }: Total): string {
  if (quality === null) return '–';
  const span = `${percent.format(quality_low ?? 0)} to ${percent.format(quality_high ?? 1)}`;
  return `${percent.format(quality)} of ${count.format(codes)} (${span})`;
}
