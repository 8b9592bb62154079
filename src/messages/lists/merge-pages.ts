import type { MessagePage } from '../message-list.ts';

/**
 * One page, newest first, from the same page of several lists. A list that stopped early may have more below the id at
 * which it stopped, so the merged page ends at the newest such id.
 */
export function mergePages(pages: readonly MessagePage[], limit: number): MessagePage {
  const ends = pages.flatMap(({ rows, searchedTo }) => (rows.length >= limit ? rows.at(-1)?.id : searchedTo) ?? []);
  const end = ends.toSorted().at(-1);
  const rows = pages
    .flatMap((page) => page.rows)
    .filter(({ id }) => end === undefined || id >= end)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  if (rows.length >= limit) return { rows: rows.slice(0, limit), searchedTo: undefined };
  return { rows, searchedTo: end };
}
