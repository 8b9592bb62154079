// Tests: test/contract/analytics.test.ts
import { dayMs, hourMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidOf } from '../../platform/ids.ts';
import { sumOfArrivals } from '../arrival-times.ts';
import { channelOfCounted } from '../channel-key.ts';
import { dayOf } from '../total-store.ts';
import { addTexts, noTexts, type TextSums } from './figures.ts';
import { stepColumns, stepMs } from './step-store.ts';

/** The spans to choose from. Hours are read from steps, days (UTC) from the totals of days. */
export const spans = {
  hour: { steps: 12, stepMs },
  day: { steps: 24, stepMs: hourMs },
  week: { steps: 7, stepMs: dayMs },
  month: { steps: 30, stepMs: dayMs },
} as const;
export type SpanName = keyof typeof spans;
export const spanNames = Object.keys(spans) as SpanName[];

const groupColumns = {
  country: 'country',
  carrier: `split_part(carrier, '#', 1)`,
  sender: 'sender',
  channel: channelOfCounted,
} as const;
export type AnalyticsGroup = keyof typeof groupColumns;
export const analyticsGroups = Object.keys(groupColumns) as AnalyticsGroup[];

export interface AnalyticsQuery {
  span: SpanName;
  by: AnalyticsGroup;
  /** Only the texts of this application (`app_…`). */
  applicationId?: string;
  nowMs: number;
}

/** The sums of a group, of a step or of both. */
export interface Sums extends TextSums {
  verifications: number;
  approved: number;
}

export interface Analytics {
  /** The begin of each step, oldest first. */
  stepsMs: number[];
  stepMs: number;
  all: { total: Sums; steps: Sums[] };
  /** The groups with the most texts, the largest first. The first few have steps. */
  groups: { name: string; total: Sums; steps: Sums[] }[];
  /** There are more groups. */
  truncated: boolean;
}

const mostGroups = 100;
/** A chart with more lines cannot be read. */
const mostLines = 5;

/** Reads sums alone, so the cost depends on groups and steps, and not on the number of texts. */
export async function readAnalytics(tx: Tx, query: AnalyticsQuery): Promise<Analytics> {
  const { steps, stepMs: length } = spans[query.span];
  const toMs = (Math.floor(query.nowMs / length) + 1) * length;
  const fromMs = toMs - steps * length;
  const stepsMs = Array.from({ length: steps }, (_, index) => fromMs + index * length);
  const source: Source = { ...query, fromMs, toMs, stepMs: length };
  const found = await readGroups(tx, source);
  const names = found.slice(0, mostGroups).map(({ name }) => name);
  const lines = names.slice(0, mostLines);
  const ofAll = await readSteps(tx, source, undefined);
  const ofLines = await readSteps(tx, source, lines);
  const stepsOf = (rows: StepRow[]) => stepsMs.map((atMs) => summed(rows.filter((row) => row.step === atMs / length)));
  return {
    stepsMs,
    stepMs: length,
    all: { total: summed(ofAll), steps: stepsOf(ofAll) },
    groups: found.slice(0, mostGroups).map(({ name, ...total }) => ({
      name,
      total,
      steps: lines.includes(name) ? stepsOf(ofLines.filter((row) => row.name === name)) : [],
    })),
    truncated: found.length > mostGroups,
  };
}

interface Source extends AnalyticsQuery {
  fromMs: number;
  toMs: number;
  stepMs: number;
}

type GroupRow = Sums & { name: string };
type StepRow = Sums & { name: string | null; step: number };

const texts = [
  ...stepColumns.map((column) => `coalesce(sum(${column}), 0) as ${column}`),
  `${sumOfArrivals('arrived')} as arrived`,
  `${sumOfArrivals('code_arrived')} as "codeArrived"`,
].join(', ');
const verifications = 'sum(verifications) as verifications, sum(approved) as approved';

async function readGroups(tx: Tx, source: Source): Promise<GroupRow[]> {
  const name = groupColumns[source.by];
  const ofTexts = textsOf(source);
  const { rows } = await tx.query<Omit<GroupRow, 'verifications' | 'approved'>>(
    `select ${name} as name, ${texts} from ${ofTexts.from} where ${ofTexts.where}
     group by 1 order by sum(sent) + sum(refused) + sum(failed) + sum(expired) desc, 1 limit ${mostGroups + 1}`,
    ofTexts.values,
  );
  const ended = verificationsOf(source);
  const isChannel = source.by === 'channel';
  const among = isChannel ? '' : ` and ${name} = any($${ended.next}::text[])`;
  const counts = await tx.query<{ name: string; verifications: number; approved: number }>(
    `select ${name} as name, ${verifications} from verification_step where ${ended.where}${among} group by 1`,
    isChannel ? ended.values : [...ended.values, rows.map((row) => row.name)],
  );
  const found = new Map(counts.rows.map((row) => [row.name, row]));
  // Verifications that the person's own text approves have no text of ours.
  const textless = counts.rows.filter((row) => rows.every((other) => other.name !== row.name));
  return [...rows, ...textless.map((row) => ({ ...noTexts, ...row }))].map((row) => {
    const { verifications: all = 0, approved = 0 } = found.get(row.name) ?? {};
    return { ...row, verifications: all, approved };
  });
}

/** Reads the sums by step, of some groups or of everything. */
async function readSteps(tx: Tx, source: Source, names: string[] | undefined): Promise<StepRow[]> {
  if (names?.length === 0) return [];
  const column = groupColumns[source.by];
  const name = names === undefined ? 'null::text' : column;
  const among = (next: number) => (names === undefined ? '' : ` and ${column} = any($${next}::text[])`);
  const given = names === undefined ? [] : [names];
  const ofTexts = textsOf(source);
  const sent = await tx.query<StepRow>(
    `select ${name} as name, ${stepOf(ofTexts.at, source)} as step, ${texts} from ${ofTexts.from}
     where ${ofTexts.where}${among(ofTexts.next)} group by 1, 2`,
    [...ofTexts.values, ...given],
  );
  const ofEnded = verificationsOf(source);
  const ended = await tx.query<StepRow>(
    `select ${name} as name, ${stepOf('at', source)} as step, ${verifications} from verification_step
     where ${ofEnded.where}${among(ofEnded.next)} group by 1, 2`,
    [...ofEnded.values, ...given],
  );
  return [...sent.rows, ...ended.rows].map((row) => ({ ...nothing, ...row }));
}

/** The number of steps since 1970. */
function stepOf(at: string, source: Source): string {
  return `floor(extract(epoch from ${at}) / ${source.stepMs / 1000})::integer`;
}

function textsOf(source: Source) {
  const { fromMs, toMs, span } = source;
  if (span === 'hour' || span === 'day')
    return {
      from: 'total_step',
      at: 'at',
      ...withApplication(source, 'minutes in (5, 60) and at >= $1 and at < $2', [
        toTimestamp(fromMs),
        toTimestamp(toMs),
      ]),
    };
  return {
    from: 'total_day',
    at: `day::timestamp at time zone 'UTC'`,
    ...withApplication(source, 'day >= $1 and day < $2', [dayOf(fromMs), dayOf(toMs)]),
  };
}

function verificationsOf(source: Source) {
  const span = [toTimestamp(source.fromMs), toTimestamp(source.toMs)];
  return withApplication(source, 'minutes in (5, 60, 1440) and at >= $1 and at < $2', span);
}

function withApplication({ applicationId }: Source, where: string, values: unknown[]) {
  if (applicationId === undefined) return { where, values, next: 3 };
  return { where: `${where} and application_id = $3`, values: [...values, uuidOf(applicationId)], next: 4 };
}

const nothing: Readonly<Sums> = { ...noTexts, verifications: 0, approved: 0 };

function summed(rows: readonly Sums[]): Sums {
  return rows.reduce<Sums>(
    (sum, row) => ({
      ...addTexts(sum, row),
      verifications: sum.verifications + row.verifications,
      approved: sum.approved + row.approved,
    }),
    nothing,
  );
}
