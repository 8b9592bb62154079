import { isDeepStrictEqual } from 'node:util';
import { grouped } from './planning.ts';
import type { Problems } from './problems.ts';

interface Given<Written> {
  path: string;
  written: Written & { id?: string };
}

export interface Matched<Written, Row> {
  matches: { path: string; written: Written; row: Row | undefined }[];
  /** Rows that the file does not name. */
  others: Row[];
}

interface MatchRules<Written, Row> {
  keyOf: (value: Written | Row) => string;
  isSame: (written: Written, row: Row) => boolean;
  /** Whether an entry with an id must also have the key of the row with that id. */
  keepsKey: boolean;
  problems: Problems;
}

/**
 * Pairs entries of a file with rows: by id, then if equal, then by key if one entry and one row are left under it. Where
 * several are left, the file must name ids.
 */
export function match<Written, Row extends { id: string }>(
  given: readonly Given<Written>[],
  rows: readonly Row[],
  { keyOf, isSame, keepsKey, problems }: MatchRules<Written, Row>,
): Matched<Written, Row> {
  const left = new Map(rows.map((row) => [row.id, row]));
  const found = new Map<string, Row>();
  const take = (path: string, row: Row) => {
    found.set(path, row);
    left.delete(row.id);
  };
  const unclear = new Set<string>();
  for (const { path, written } of given) {
    if (written.id === undefined) continue;
    const row = left.get(written.id);
    if (row !== undefined && (!keepsKey || keyOf(written) === keyOf(row))) take(path, row);
    else {
      problems.add(`${path}.id`, 'must be the id of an existing entry, used once. Leave it out to create an entry.');
      unclear.add(path);
    }
  }
  const open = () => given.filter(({ path }) => !found.has(path) && !unclear.has(path));
  for (const { path, written } of open()) {
    const same = [...left.values()].find((row) => keyOf(row) === keyOf(written) && isSame(written, row));
    if (same !== undefined) take(path, same);
  }
  const rowsByKey = grouped([...left.values()], keyOf);
  for (const [key, entries] of grouped(open(), ({ written }) => keyOf(written))) {
    const candidates = rowsByKey.get(key) ?? [];
    const [only] = candidates;
    const [first] = entries;
    if (only === undefined || first === undefined) continue;
    if (candidates.length === 1 && entries.length === 1) {
      take(first.path, only);
      continue;
    }
    const ids = candidates.map(({ id }) => id).join(', ');
    for (const { path } of entries) problems.add(`${path}.id`, `is required: it may be any of ${ids}`);
  }
  return {
    matches: given.map(({ path, written }) => ({ path, written, row: found.get(path) })),
    others: [...left.values()],
  };
}

/** Whether all fields that the file names are equal. */
export function agrees(row: object, named: object): boolean {
  const was = row as Record<string, unknown>;
  return Object.entries(named).every(([field, value]) => value === undefined || isDeepStrictEqual(was[field], value));
}
