/** Characters that act on a terminal or a page instead of being seen: controls, and marks of the direction of text. */
const unseen = /(?![\n\t])[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A text from another machine, with every control character as a visible sign. Line breaks and tabs stay. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '\u2421' : `\\u{${code.toString(16)}}`;
  });
}

/** The beginning of a body as text. A character that was cut at the end is left out. */
export function showBody(body: Buffer, isCut: boolean): string {
  const text = new TextDecoder('utf-8').decode(body, { stream: isCut });
  return showControls(text);
}
