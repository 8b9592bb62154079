/** How the values of a series in several processes become one. */
type Merge = (before: number, next: number) => number;

const add: Merge = (before, next) => before + next;

/**
 * How to merge each gauge: the first matching pattern counts. Values of a process's own memory add up; all processes read
 * the others from the database, where they are the same.
 */
const gauges: [pattern: RegExp, merge: Merge][] = [
  [/^heliograph_(\w+_windows|database_\w+|side_requests\w*|remembered_credentials|webhooks_\w+)$/, add],
  [/^heliograph_window_store_in_use$/, Math.min],
  [/^heliograph_/, Math.max],
  [/^nodejs_(eventloop_lag_|version_info)/, Math.max],
  [/^process_(start_time_seconds|max_fds)$/, Math.min],
];

interface Family {
  /** Its HELP and TYPE lines. */
  about: string[];
  type: string;
  merge: Merge;
  /** By name and labels, as they are written. */
  series: Map<string, number>;
}

/**
 * One text of metrics from those of several processes: counters and histograms add up, gauges as listed above.
 * `which: 'counts'` leaves gauges out: what is kept of a process that has ended.
 */
export function mergeMetrics(texts: readonly string[], which: 'all' | 'counts' = 'all'): string {
  const families = new Map<string, Family>();
  for (const text of texts) readInto(families, text);
  const lines: string[] = [];
  for (const { about, type, series } of families.values()) {
    if (which === 'counts' && type !== 'counter' && type !== 'histogram') continue;
    lines.push(...about);
    for (const [name, value] of series) lines.push(`${name} ${Number.isNaN(value) ? 'NaN' : value}`);
  }
  return `${lines.join('\n')}\n`;
}

function readInto(families: Map<string, Family>, text: string): void {
  let family: Family | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('# ')) {
      const [, kind, name = '', type = ''] = line.split(' ', 4);
      family = families.get(name) ?? { about: [], type: '', merge: add, series: new Map() };
      families.set(name, family);
      if (kind === 'TYPE') family.type = type;
      if (type === 'gauge') family.merge = gauges.find(([pattern]) => pattern.test(name))?.[1] ?? add;
      if (!family.about.some((known) => known.startsWith(`# ${kind} `))) family.about.push(line);
    } else if (line !== '' && family !== undefined) {
      const at = line.lastIndexOf(' ');
      const [name, value] = [line.slice(0, at), Number(line.slice(at + 1))];
      const before = family.series.get(name);
      family.series.set(name, before === undefined ? value : family.merge(before, value));
    }
  }
}
