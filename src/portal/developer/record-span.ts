// Tests: test/contract/portal-records.test.ts
import { Type } from 'typebox';
import type { PageRequest } from '../../http/list-page.ts';
import { exampleSpan } from '../../http/openapi/field-examples.ts';
import { dayMs } from '../../platform/clock.ts';
import { invalidField } from '../../platform/errors.ts';
import { type IdPrefix, idFloor } from '../../platform/ids.ts';

const time = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 35,
      format: 'date-time',
      examples: [example],
      expected: 'a time, like 2026-01-31T12:00:00Z',
      description,
    }),
  );

/** The time span of a list. The names `from` and `to` are taken: they are phone numbers. */
export const spanQuery = {
  since: time('The records created at this time or later', exampleSpan.from),
  until: time('The records created before this time', exampleSpan.to),
};

/** Ids begin with their time, so a span of time is a span of ids: at least `floor` and below `ceiling`. */
export interface IdSpan {
  floor: string | undefined;
  ceiling: string | undefined;
}

interface TimeSpan {
  since?: string;
  until?: string;
}

export function readIdSpan(prefix: IdPrefix, { since, until }: TimeSpan, nowMs: number): IdSpan {
  const [sinceMs, untilMs] = [since, until].map((text) => (text === undefined ? undefined : Date.parse(text)));
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs)
    throw invalidField('since', 'must not be later than until');
  const floorOf = (ms: number | undefined) => (ms === undefined ? undefined : idFloor(prefix, Math.max(0, ms)));
  // No record has a time in the future, so partitions made ahead need no search.
  const isAhead = untilMs !== undefined && untilMs > nowMs + dayMs;
  return { floor: floorOf(sinceMs), ceiling: isAhead ? undefined : floorOf(untilMs) };
}

export interface SpanPage<Row> {
  rows: Row[];
  /** Set if the search stopped before the page was full: the id to continue after. */
  searchedTo?: string | undefined;
}

/** Reads a page of a list, newest first, within a span. */
export async function readWithin<Row extends { id: string }>(
  { floor, ceiling }: IdSpan,
  page: PageRequest,
  read: (page: PageRequest) => Promise<SpanPage<Row>>,
): Promise<SpanPage<Row>> {
  const after = lower(page.after, ceiling);
  if (floor === undefined) return read({ ...page, after });
  if (after !== undefined && after <= floor) return { rows: [] };
  const { rows, searchedTo } = await read({ ...page, after });
  const inside = rows.filter(({ id }) => id >= floor);
  const isOver = inside.length < rows.length || (searchedTo !== undefined && searchedTo < floor);
  return { rows: inside, searchedTo: isOver ? undefined : searchedTo };
}

function lower(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
