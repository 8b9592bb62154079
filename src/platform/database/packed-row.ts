/** A character that no number, id, time or phone number contains. */
const mark = '|';

/**
 * SQL that makes one text of several columns: Node reads it in a quarter of the time that a value for each takes. Only for
 * columns whose text cannot hold the mark. A column that may be null has a `?` at the end of its name.
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
