import { useState } from 'react';
import { withQuery } from '../../api/call.ts';
import type { Problem } from '../../api/problem.ts';
import type { RecordTotal } from '../../api/record-types.ts';
import type { Page } from '../../api/types.ts';
import type { Filters } from '../../location.ts';
import { useLoad, usePage } from '../../session/use-load.ts';

/** The position in a list, kept in the page's address. Pages add it to their filters. */
export const firstPage = { cursor: '', page: '1' };
type Place = typeof firstPage;

/** Everything in the address of a list but its page. */
export function withoutPage<Values extends Place>({
  cursor: _,
  page: __,
  ...filters
}: Values): Omit<Values, keyof Place> {
  return filters;
}

export interface Pages<Item> {
  /** Undefined until the first response. */
  items: Item[] | undefined;
  /** The responses that the items came in. */
  responses: Page<Item>[];
  problem: Problem | undefined;
  reload: () => void;
  total: RecordTotal | undefined;
  /** From 1. */
  page: number;
  newest: () => void;
  /** Undefined on the first page, and if the page was opened by its address. */
  newer: (() => void) | undefined;
  older: (() => void) | undefined;
}

const refreshMs = 2000;
const totalEveryMs = 10_000;

/** One page of a list, refreshed. `path` has the filters; `totalPath`, if the list has one, too. */
export function usePages<Item, Values extends Place>(
  path: string,
  filters: Filters<Values>,
  totalPath?: string,
): Pages<Item> {
  const { cursor, page } = filters.values;
  const [before, setBefore] = useState<string[]>([]);
  const { data, problem, reload } = usePage<Item>(path, cursor, refreshMs);
  const { data: total } = useLoad<RecordTotal>(totalPath, totalEveryMs);
  const number = Math.max(1, Number.parseInt(page, 10) || 1);
  const go = (place: Place, stack: string[]) => {
    setBefore(stack);
    filters.change(place as Partial<Values>);
    window.scrollTo(0, 0);
  };
  const previous = before.at(-1);
  const next = data?.next ?? undefined;
  return {
    items: data?.items,
    responses: data?.responses ?? [],
    problem,
    reload,
    total: totalPath === undefined ? undefined : total,
    page: number,
    newest: () => go(firstPage, []),
    newer:
      number > 1 && previous !== undefined
        ? () => go({ cursor: previous, page: String(number - 1) }, before.slice(0, -1))
        : undefined,
    older: next === undefined ? undefined : () => go({ cursor: next, page: String(number + 1) }, [...before, cursor]),
  };
}

/** The path of a list with its filters, and of its total. */
export function listPaths(path: string, filters: Record<string, string>): [list: string, total: string] {
  return [withQuery(path, filters), withQuery(`${path}/total`, filters)];
}
