/** What the receipt of one part of a text is kept under, where all parts have the same id. */
export function partKey(id: string, part: number): string {
  return `${id}/${part}`;
}
