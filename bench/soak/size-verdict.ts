import type { SizeSample } from './samples.ts';
import type { TableSize } from './tables.ts';
import { medianOf, trendOf } from './trend.ts';
import { type Line, leastJudgedMs, readable } from './verdict-line.ts';

/** Smaller tables grow by a page or two, which says nothing. */
const leastBytes = 4e6;
/** Growth for each row, or in all, that vacuum leaves between two of its rounds. */
const allowedShare = 0.15;
/** If most rows of a table go again, it is a queue: it must stay as small as it is. */
const queueShare = 0.5;

export interface TableStory {
  name: string;
  /** A queue's rows go again; a record stays. */
  kind: 'queue' | 'records';
  rows: number;
  bytes: number;
  indexBytes: number;
  /** Of a queue all of it, of records what one takes: middle of the first and of the last quarter. */
  early: number;
  late: number;
}

export function judgeSizes(sizes: SizeSample[]): Line[] {
  const first = sizes[0];
  const last = sizes.at(-1);
  if (first === undefined || last === undefined) return [];
  const isJudged = last.atMs - first.atMs >= leastJudgedMs;
  return storiesOf(sizes).map((story) => {
    const { name, kind, late } = story;
    const points = measuresOf(sizes, story);
    const { isRising, grown, level } = trendOf(points, 'middle');
    const least = kind === 'queue' ? leastBytes : 0;
    const grows = isRising && grown > Math.max(least, allowedShare * level);
    const unit = kind === 'queue' ? `${readable(late / 1e6)} MB in all` : `${readable(late)} bytes a row`;
    const change = level === 0 ? '' : ` (${grown < 0 ? '−' : '+'}${Math.abs((100 * grown) / level).toFixed(1)} %)`;
    return {
      name: `Size of ${name}`,
      found: !isJudged
        ? `${unit}; too short a run to judge`
        : grows
          ? `grows: ${unit}${change}`
          : `flat: ${unit}${change}`,
      holds: isJudged ? !grows : undefined,
    };
  });
}

/** Every table that is large enough in the end, the largest first. */
export function storiesOf(sizes: SizeSample[]): TableStory[] {
  const tables = sizes.at(-1)?.tables ?? [];
  return tables
    .filter((table) => bytesOf(table) >= leastBytes)
    .map((table): TableStory => {
      const kind = table.deleted > queueShare * table.inserted ? 'queue' : 'records';
      const story = { name: table.name, kind, rows: table.inserted - table.deleted, bytes: bytesOf(table) } as const;
      const values = measuresOf(sizes, story).map(({ value }) => value);
      const quarter = Math.max(1, Math.floor(values.length / 4));
      return {
        ...story,
        indexBytes: table.indexBytes,
        early: medianOf(values.slice(0, quarter)),
        late: medianOf(values.slice(-quarter)),
      };
    })
    .sort((one, other) => other.bytes - one.bytes);
}

function measuresOf(sizes: SizeSample[], { name, kind }: Pick<TableStory, 'name' | 'kind'>) {
  return sizes.flatMap(({ atMs, tables }) => {
    const table = tables.find((each) => each.name === name);
    if (table === undefined) return [];
    const rows = table.inserted - table.deleted;
    if (kind === 'queue') return [{ atMs, value: bytesOf(table) }];
    // Until there are some rows, the first pages would be counted as theirs.
    return rows < 1000 ? [] : [{ atMs, value: bytesOf(table) / rows }];
  });
}

function bytesOf({ tableBytes, indexBytes }: TableSize): number {
  return tableBytes + indexBytes;
}
