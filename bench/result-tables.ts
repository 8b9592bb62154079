import { holds, type Row } from './result-row.ts';
import type { Spread } from './rounds.ts';

const titles = ['', 'median (low–high)', 'by CPU', 'a second', 'µs CPU', 'µs Postgres', 'goal', 'holds'];

/** Groups in the order in which they came, each with its lines. */
export function groupsOf(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return groups;
}

export function terminalTable(rows: Row[]): string {
  const lines = [titles, ...rows.map(cells)];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const align = (line: string[]) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const parts = [align(titles)];
  for (const [group, own] of groupsOf(rows)) parts.push('', group, ...own.map((row) => align(cells(row))));
  return parts.join('\n');
}

export function markdownTable(rows: Row[]): string {
  const parts: string[] = [];
  for (const [group, own] of groupsOf(rows)) {
    parts.push(`| ${[group, ...titles.slice(1)].join(' | ')} |`, `|---|${'---:|'.repeat(titles.length - 1)}`);
    parts.push(...own.map((row) => `| ${cells(row).join(' | ')} |`), '');
  }
  return parts.join('\n');
}

/** The same lines of several runs, each with two columns: the median, and the ratio or the cost by CPU. */
export function besideTable(runs: { node: string; rows: Row[] }[]): string {
  const parts: string[] = [];
  const all = new Map(runs.flatMap(({ rows }) => rows.map((row) => [keyOf(row), row] as const)));
  for (const [group, own] of groupsOf([...all.values()])) {
    const columns = runs.flatMap(({ node }) => [node, 'by CPU', 'µs CPU', 'µs Postgres']);
    parts.push(`| ${[group, ...columns].join(' | ')} |`, `|---|${'---:|'.repeat(columns.length)}`);
    for (const row of own) {
      const found = runs.map(({ rows }) => rows.find((each) => keyOf(each) === keyOf(row)));
      const figures = found.flatMap((each) => {
        if (each === undefined) return ['', '', '', ''];
        const [, value = '', byCpu = '', , cpu = '', postgres = ''] = cells(each);
        return [value, byCpu, cpu, postgres];
      });
      parts.push(`| ${[row.name, ...figures].join(' | ')} |`);
    }
    parts.push('');
  }
  return parts.join('\n');
}

function keyOf({ group, name }: Row): string {
  return `${group}\n${name}`;
}

function cells(row: Row): string[] {
  const { name, value, byCpu, perSecond, cpuMicroseconds, postgresMicroseconds } = row;
  const held = holds(row);
  return [
    name,
    spreadText(value, row.unit),
    byCpu === undefined ? '' : spreadText(byCpu, 'ratio'),
    perSecond === undefined ? '' : Math.round(perSecond).toLocaleString('en'),
    cpuMicroseconds === undefined ? '' : cpuMicroseconds.toFixed(0),
    postgresMicroseconds === undefined ? '' : postgresMicroseconds.toFixed(0),
    goalText(row),
    held === undefined ? '' : held ? 'yes' : 'no',
  ];
}

function goalText({ goal, unit }: Row): string {
  if (goal === undefined) return '';
  const text = 'atLeast' in goal ? `≥ ${number(goal.atLeast)}` : `< ${number(goal.below)}`;
  return unit === 'ratio' ? text : `${text} ${unit}`;
}

function spreadText({ median, low, high }: Spread, unit: Row['unit']): string {
  const range = low === high ? '' : ` (${number(low)}–${number(high)})`;
  return `${number(median)}${range}${unit === 'ratio' ? '' : ` ${unit}`}`;
}

function number(value: number): string {
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
