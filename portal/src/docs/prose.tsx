/** A sentence of the document: what stands between backquotes is code. */
export function Prose({ text }: { text: string }) {
  return text.split(/`([^`]*)`/).map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place.
    return index % 2 === 1 ? <code key={index}>{piece}</code> : piece;
  });
}
