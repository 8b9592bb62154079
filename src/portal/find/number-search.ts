import type { Message } from '../../messages/message.ts';
import {
  findTextsOfAll,
  findTextsOfApplications,
  findUnindexedWeeks,
} from '../../messages/numbers/number-search-store.ts';
import { dayMs } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { partitionWeekMs } from '../../platform/database/partitions.ts';
import { fromUuid, idTimeMs, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { findVerificationsOfAll, findVerificationsOfApplications } from '../../verify/number-search-store.ts';
import type { Verification } from '../../verify/verification.ts';

export interface NumberRequest {
  numbers: string[];
  /** Undefined for the applications of all accounts. */
  applicationIds: string[] | undefined;
  limit: number;
  /** The last id of the previous page. */
  after: string | undefined;
  nowMs: number;
  /** Older records have masked numbers. */
  oldestMs: number;
}

export interface NumberPage {
  /** Newest first. */
  records: (Message | Verification)[];
  /** Where the next page begins; undefined if everything was searched. */
  next: string | undefined;
  /** The beginnings of weeks that were left out, because their index is being built. */
  unindexedMs: number[];
}

/** Weeks that one request reads, in spans that grow: most people search for what happened lately. */
const spanWeeks = [1, 3, 4, 8];

/** Texts and verifications of some numbers. Ids of both kinds begin with their time, so one order holds for both. */
export async function searchNumbers(tx: Tx, request: NumberRequest): Promise<NumberPage> {
  const { limit, after, nowMs, oldestMs, applicationIds } = request;
  const unindexed = applicationIds === undefined ? await findUnindexedWeeks(tx) : new Set<number>();
  const newestMs = Math.min(after === undefined ? nowMs + dayMs : idTimeMs(after), nowMs + dayMs);
  const below = after === undefined ? uuidFloor(nowMs + dayMs) : uuidOf(after);
  const oldestWeek = Math.floor(Math.max(0, oldestMs) / partitionWeekMs);
  const records: NumberPage['records'] = [];
  const skipped: number[] = [];
  let week = Math.floor(newestMs / partitionWeekMs);
  for (const weeks of spanWeeks) {
    if (week < oldestWeek) break;
    const first = Math.max(oldestWeek, week - weeks + 1);
    for (const span of spansOf(first, week, unindexed)) {
      if (span.isIndexed) records.push(...(await readSpan(tx, request, { ...span, below })));
      else skipped.push(...weeksOf(span));
    }
    week = first - 1;
    if (records.length > limit) break;
  }
  const shown = records.sort((a, b) => (uuidOf(a.id) < uuidOf(b.id) ? 1 : -1)).slice(0, limit);
  const last = records.length > limit ? shown.at(-1)?.id : undefined;
  const isDone = week < oldestWeek;
  return {
    records: shown,
    next: last ?? (isDone ? undefined : fromUuid('msg', uuidFloor((week + 1) * partitionWeekMs))),
    unindexedMs: skipped.map((each) => each * partitionWeekMs),
  };
}

interface WeekSpan {
  first: number;
  last: number;
  isIndexed: boolean;
}

/** Runs of weeks that can be searched, or cannot yet; the newest first. */
function spansOf(first: number, last: number, unindexed: ReadonlySet<number> | undefined): WeekSpan[] {
  const spans: WeekSpan[] = [];
  for (let week = last; week >= first; week--) {
    const isIndexed = unindexed !== undefined && !unindexed.has(week);
    const newest = spans.at(-1);
    if (newest?.isIndexed === isIndexed) newest.first = week;
    else spans.push({ first: week, last: week, isIndexed });
  }
  return spans;
}

function weeksOf({ first, last }: WeekSpan): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => last - index);
}

async function readSpan(
  tx: Tx,
  { numbers, applicationIds, limit }: NumberRequest,
  { first, last, below }: WeekSpan & { below: string },
): Promise<(Message | Verification)[]> {
  const from = uuidFloor(first * partitionWeekMs);
  const search = { numbers, from, to: uuidFloor((last + 1) * partitionWeekMs), below, limit: limit + 1 };
  // In sequence, so that a request uses one connection at a time.
  if (applicationIds === undefined) {
    return [...(await findTextsOfAll(tx, search)), ...(await findVerificationsOfAll(tx, search))];
  }
  return [
    ...(await findTextsOfApplications(tx, search, applicationIds)),
    ...(await findVerificationsOfApplications(tx, search, applicationIds)),
  ];
}
