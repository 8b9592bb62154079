// Tests: test/contract/portal-totals.test.ts
import { type Static, Type } from 'typebox';
import type { PageRequest } from '../../http/list-page.ts';
import type { SpanPage } from './record-span.ts';

/** Counts above this are not exact: a list of millions must cost no more than a few pages of it. */
export const mostCounted = 1000;

export const totalSchema = Type.Object(
  {
    total: Type.Integer({ description: `At most ${mostCounted}`, examples: [307] }),
    more: Type.Boolean({ description: 'Whether there are more than that' }),
  },
  { title: 'RecordTotal' },
);
export type RecordTotal = Static<typeof totalSchema>;

/** Counts what a list would show, by reading it up to the maximum. */
export async function countRecords(list: (page: PageRequest) => Promise<SpanPage<unknown>>): Promise<RecordTotal> {
  const { rows, searchedTo } = await list({ limit: mostCounted + 1, after: undefined });
  return { total: Math.min(rows.length, mostCounted), more: rows.length > mostCounted || searchedTo !== undefined };
}
