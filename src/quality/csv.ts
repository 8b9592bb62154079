// Tests: src/quality/counts.test.ts
type Cells = readonly (string | number | null)[];

/** A CSV file (RFC 4180) with a line of titles. */
export function toCsv(titles: readonly string[], rows: readonly Cells[]): string {
  return toCsvLines([titles, ...rows]);
}

/** A part of a CSV file. */
export function toCsvLines(rows: readonly Cells[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

/** A spreadsheet runs a cell that begins like this, unless it is a number. */
const formula = /^[=+\-@\t\r]/;
const number = /^[+-]?\d+(\.\d+)?$/;

function toCell(value: string | number | null): string {
  if (value === null) return '';
  const written = String(value);
  const text = formula.test(written) && !number.test(written) ? `'${written}` : written;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
