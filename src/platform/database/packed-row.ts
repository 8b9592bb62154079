/** A character that no number, id, time or phone number contains. */
const mark = '|';

/**
 * SQL that joins columns into one text: Node reads it four times as fast as separate values. Only for columns whose text
 * cannot hold the mark. A nullable column is named with a `?` at the end.
 */
export function packed(columns: readonly string[], table?: string): string {
  const from = table === undefined ? '' : `${table}.`;
  const cells = columns.map((column) =>
    column.endsWith('?') ? `coalesce(${from}${column.slice(0, -1)}::text, '')` : `${from}${column}`,
  );
  return `concat_ws('${mark}', ${cells.join(', ')})`;
}

/** The cells of a packed text, in the order of its columns; null is ''. */
export function unpack(text: string): string[] {
  return text.split(mark);
}
