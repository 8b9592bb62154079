import { bold, cut, dim, pad, type Text, textWidth } from './text.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Shrinks first when the terminal is narrow. */
  flexible?: true;
  /** Hidden when the terminal is narrow. Higher values are hidden first. */
  optional?: number;
}

const gap = 2;
const narrowest = 8;

/**
 * The lines of a table that fits the terminal. Ids are never cut, because people copy them: if they do not fit, each row
 * becomes several lines.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Text[])[], width: number): Text[] {
  const shown = chooseColumns(columns, rows, width);
  if (shown === undefined) return rows.flatMap((row) => stack(columns, row));
  const widths = fit(shown, rows, width);
  const line = (cells: readonly Text[]): Text =>
    shown.flatMap(({ index, column }, at) => {
      const room = widths[at] ?? 0;
      const cell = cut(cells[index] ?? '', room);
      const isLast = at === shown.length - 1 && column.align !== 'right';
      return [isLast ? cell : pad(cell, room, column.align), isLast || at === shown.length - 1 ? '' : ' '.repeat(gap)];
    });
  return [line(columns.map(({ title }) => bold(title))), ...rows.map(line)];
}

interface Shown {
  index: number;
  column: Column;
}

/** All columns, without optional ones that do not fit. Undefined if even the others do not fit. */
function chooseColumns(
  columns: readonly Column[],
  rows: readonly (readonly Text[])[],
  width: number,
): Shown[] | undefined {
  let shown = columns.map((column, index) => ({ index, column }));
  for (;;) {
    const least = shown.reduce((sum, { index, column }) => {
      const wanted = widest(index, column, rows);
      return sum + (column.flexible ? Math.min(wanted, narrowest) : wanted) + gap;
    }, -gap);
    const first = Math.max(0, ...shown.map(({ column }) => column.optional ?? 0));
    if (least <= width) return shown;
    if (first === 0) return undefined;
    shown = shown.filter(({ column }) => column.optional !== first);
  }
}

/** The width of each column. Flexible columns shrink until the table fits, the widest first. */
function fit(shown: readonly Shown[], rows: readonly (readonly Text[])[], width: number): number[] {
  const widths = shown.map(({ index, column }) => widest(index, column, rows));
  for (;;) {
    const missing = widths.reduce((sum, each) => sum + each + gap, -gap) - width;
    const flexible = shown
      .map(({ column }, at) => ({ at, column, wide: widths[at] ?? 0 }))
      .filter(({ column, wide }) => column.flexible && wide > narrowest);
    const most = flexible.toSorted((one, other) => other.wide - one.wide)[0];
    if (missing <= 0 || most === undefined) return widths;
    widths[most.at] = most.wide - 1;
  }
}

/** A row as several lines. */
function stack(columns: readonly Column[], row: readonly Text[]): Text[] {
  return columns.flatMap(({ title }, index) => {
    const cell = row[index] ?? '';
    if (textWidth(cell) === 0 || title.trim() === '') return [];
    return [index === 0 ? cell : [dim(`  ${title}  `), cell]];
  });
}

function widest(index: number, { title }: Column, rows: readonly (readonly Text[])[]): number {
  return Math.max(textWidth(title), ...rows.map((row) => textWidth(row[index] ?? '')));
}
