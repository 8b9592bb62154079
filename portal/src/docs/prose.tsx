/** A sentence of the document. Text between backquotes is code. */
export function Prose({ text }: { text: string }) {
  return text.split(/`([^`]*)`/).map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its index.
    return index % 2 === 1 ? <code key={index}>{piece}</code> : piece;
  });
}
