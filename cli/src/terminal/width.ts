/** Blocks whose characters take two columns (East Asian Width W and F). */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f200, 0x1f2ff],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];
const plain = /^[\x20-\x7e]*$/;
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Splits text into visible characters (grapheme clusters). */
export function* splitGraphemes(text: string): Generator<string, void, undefined> {
  for (const { segment } of graphemes.segment(text)) yield segment;
}

/** The width of a text in terminal columns. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let columns = 0;
  for (const grapheme of splitGraphemes(text)) columns += graphemeWidth(grapheme);
  return columns;
}

export function graphemeWidth(grapheme: string): 0 | 1 | 2 {
  if (plain.test(grapheme)) return 1;
  if (zeroWidth.test(grapheme)) return 0;
  // A character that is an emoji by default, or one followed by U+FE0F.
  if (/\p{Emoji_Presentation}/u.test(grapheme) || grapheme.includes('\ufe0f')) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
