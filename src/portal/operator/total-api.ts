// Tests: test/contract/operator-totals.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { type Clock, dayMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { fromUuid } from '../../platform/ids.ts';
import { wilson } from '../../quality/conversion/wilson.ts';
import { toCsv } from '../../quality/csv.ts';
import {
  type DayColumn,
  dayColumns,
  dayOf,
  readTotals,
  type TotalGroup,
  type TotalRow,
  totalGroups,
} from '../../quality/total-store.ts';

export interface TotalRoutesOptions {
  database: Database;
  clock: Clock;
}

const counts = {
  attempts: Type.Integer({ description: 'Submits' }),
  copies: Type.Integer({ description: 'Submits of texts that may have arrived before' }),
  throttled: Type.Integer({ description: 'Submits that the carrier deferred' }),
  in_doubt: Type.Integer({ description: 'Submits without a usable answer' }),
  sent: Type.Integer({ description: 'Texts that the carrier accepted' }),
  parts: Type.Integer({ description: 'Parts of these texts' }),
  delivered: Type.Integer(),
  undelivered: Type.Integer({ description: 'Texts that the carrier reported as undelivered or expired' }),
  failed: Type.Integer({ description: 'Texts that the carrier refused and no other took, or reported as failed' }),
  codes: Type.Integer({ description: 'Texts of ended verifications that only this carrier had' }),
  approved: Type.Integer({ description: 'Approved ones of these verifications' }),
  refused: Type.Integer({ description: 'Submits that the carrier refused' }),
  unavailable: Type.Integer({ description: 'Submits that the carrier could not take at that time' }),
  expired: Type.Integer({ description: 'Texts that expired before the carrier accepted them' }),
  code_attempts: Type.Integer({ description: 'Submits of codes' }),
  code_sent: Type.Integer({ description: 'Codes that the carrier accepted' }),
  code_refused: Type.Integer({ description: 'Submits of codes that the carrier refused' }),
  code_delivered: Type.Integer({ description: 'Delivered codes' }),
  code_failed: Type.Integer({ description: 'Codes that failed, expired or were not delivered' }),
  reported: Type.Integer({ description: 'Sent texts that the carrier has reported on' }),
} satisfies Record<DayColumn, unknown>;

const share = (description: string) => nullable(Type.Number({ description, examples: [0.9] }));
const totalSchema = Type.Object(
  {
    day: Type.Optional(Type.String({ description: 'UTC, by when the texts were sent' })),
    carrier: Type.Optional(Type.String()),
    country: Type.Optional(nullable(Type.String({ description: 'Null if the number belongs to no country' }))),
    sender: Type.Optional(Type.String()),
    application_id: Type.Optional(Type.String()),
    channel: Type.Optional(Type.String({ examples: ['sms'] })),
    ...counts,
    quality: share('approved ÷ codes'),
    quality_low: share('Lower bound of the 95 % interval of quality (Wilson)'),
    quality_high: share('Upper bound of that interval'),
  },
  { title: 'Total' },
);
export type TotalRecord = Static<typeof totalSchema>;
const totalsSchema = Type.Object(
  {
    from: Type.String({ description: 'The first day', examples: ['2026-01-02'] }),
    to: Type.String({ description: 'The last day', examples: ['2026-01-31'] }),
    by: Type.Array(Type.String(), { examples: [['carrier', 'country']] }),
    data: Type.Array(totalSchema),
    truncated: Type.Boolean({ description: 'There are more rows: ask for fewer days or columns, or for the CSV file' }),
  },
  { title: 'Totals' },
);
export type TotalsRecord = Static<typeof totalsSchema>;

const day = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  maxLength: 10,
  expected: 'a day, like 2026-01-31',
  examples: ['2026-01-31'],
});
const query = Type.Object({
  from: Type.Optional(day),
  to: Type.Optional(day),
  by: Type.String({
    default: 'carrier,country',
    maxLength: 60,
    expected: `some of ${totalGroups.join(', ')}, separated by commas`,
  }),
});

/** New counts go to the end of a line, because a reader of the file may count columns. */
const [firstCounts, laterCounts] = [dayColumns.slice(0, 11), dayColumns.slice(11)];
const fileColumns = [...firstCounts, 'quality', 'quality_low', 'quality_high', ...laterCounts] as const;

const mostDays = 400;
const mostRows = 1000;
const mostCsvRows = 50_000;

/** What carriers did with our texts, for operators, as a list and as a file. */
export function createTotalRoutes({ database, clock }: TotalRoutesOptions): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: carriers', query } as const;

  async function read(given: Static<typeof query>, limit: number) {
    const span = readSpan(given, clock.nowMs());
    const by = readGroups(given.by);
    const rows = await readTotals(database, { ...span, by, limit: limit + 1 });
    return { ...span, by, rows: rows.slice(0, limit).map(toTotal), truncated: rows.length > limit };
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/totals',
      ...shared,
      operationId: 'getTotals',
      summary: 'Read what carriers did with texts: counts, cost in parts, and quality',
      description: 'By default for the last 30 days, by carrier and country. Nodes write their counts every 5 seconds.',
      answers: { 200: { description: 'The totals, ordered by these columns', schema: totalsSchema } },
      handler: async (call) => {
        const { from, to, by, rows, truncated } = await read(call.query, mostRows);
        return { status: 200, body: { from, to, by, data: rows, truncated } };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/operator/totals.csv',
      ...shared,
      operationId: 'getTotalsFile',
      summary: 'Read the totals as a CSV file',
      answers: {
        200: {
          description: 'A line of titles, then one for each row',
          type: 'text/csv',
          headers: ['Content-Disposition'],
          example: 'carrier,country,attempts\r\nacme,GB,1\r\n',
        },
      },
      handler: async (call) => {
        const { from, to, by, rows, truncated } = await read(call.query, mostCsvRows);
        if (truncated)
          throw invalidField('by', `must make at most ${mostCsvRows} rows; ask for fewer days or fewer columns`);
        const titles = [...by.map(columnOf), ...fileColumns];
        const data = toCsv(
          titles,
          rows.map((row) => titles.map((title) => row[title] ?? null)),
        );
        const disposition = `attachment; filename="totals-${from}-${to}.csv"`;
        return {
          status: 200,
          content: { type: 'text/csv; charset=utf-8', data, headers: { 'content-disposition': disposition } },
        };
      },
    }),
  ];
}

/** Whole days, both included. */
function readSpan(given: { from?: string; to?: string }, nowMs: number): { from: string; to: string } {
  const toMs = given.to === undefined ? nowMs : readDay('to', given.to);
  const fromMs = given.from === undefined ? toMs - 29 * dayMs : readDay('from', given.from);
  if (fromMs > toMs) throw invalidField('from', 'must not be later than to');
  if (toMs - fromMs > mostDays * dayMs) throw invalidField('from', `must be at most ${mostDays} days before to`);
  return { from: dayOf(fromMs), to: dayOf(toMs) };
}

function readDay(field: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  // JavaScript reads 30 February as a day of March, and Postgres has no year 0.
  if (Number.isNaN(ms) || dayOf(ms) !== text || text < '1970')
    throw invalidField(field, 'must be a day, like 2026-01-31');
  return ms;
}

function readGroups(text: string): TotalGroup[] {
  const names = text.split(',').filter((name) => name !== '');
  const by = names.filter((name): name is TotalGroup => (totalGroups as string[]).includes(name));
  if (by.length < names.length || new Set(by).size < by.length)
    throw invalidField('by', `must be some of ${totalGroups.join(', ')}, each once, separated by commas`);
  return by;
}

function columnOf(group: TotalGroup): keyof TotalRecord {
  return group === 'application' ? 'application_id' : group;
}

function toTotal({ application, country, ...row }: TotalRow): TotalRecord {
  const quality = wilson(row.approved, row.codes);
  return {
    ...row,
    ...(application !== undefined && { application_id: fromUuid('app', application) }),
    ...(country !== undefined && { country: country === '' ? null : country }),
    quality: rounded(quality?.value),
    quality_low: rounded(quality?.low),
    quality_high: rounded(quality?.high),
  };
}

function rounded(share: number | undefined): number | null {
  return share === undefined ? null : Math.round(share * 10_000) / 10_000;
}
