import { clean } from './clean.ts';
import { graphemeWidth, splitGraphemes, widthOf } from './width.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Text for the terminal. Styles are data until it is written, so that no text can contain its own. */
export type Text = string | { style: Style; text: Text } | readonly Text[];

/** A piece of one line: cleaned, with its styles. */
interface Span {
  text: string;
  styles: readonly Style[];
}

const codes: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 };

export const bold = (text: Text): Text => ({ style: 'bold', text });
export const dim = (text: Text): Text => ({ style: 'dim', text });
export const red = (text: Text): Text => ({ style: 'red', text });
export const green = (text: Text): Text => ({ style: 'green', text });
export const yellow = (text: Text): Text => ({ style: 'yellow', text });
export const blue = (text: Text): Text => ({ style: 'blue', text });
export const cyan = (text: Text): Text => ({ style: 'cyan', text });

/** One line for a terminal, with colours or without. */
export function render(text: Text, coloured: boolean): string {
  return toSpans(text)
    .map((span) => renderSpan(span, coloured))
    .join('');
}

/** Its width in columns. */
export function textWidth(text: Text): number {
  return toSpans(text).reduce((columns, span) => columns + widthOf(span.text), 0);
}

/** The beginning of a text that fits the columns, with a mark where it was cut. */
export function cut(text: Text, columns: number): Text {
  if (textWidth(text) <= columns) return text;
  if (columns < 1) return '';
  const kept: Text[] = [];
  let left = columns - 1;
  for (const { text: piece, styles } of toSpans(text)) {
    let part = '';
    for (const grapheme of splitGraphemes(piece)) {
      left -= graphemeWidth(grapheme);
      if (left < 0) break;
      part += grapheme;
    }
    kept.push(styled(part, styles));
    if (left < 0) break;
  }
  return [...kept, '…'];
}

export function pad(text: Text, columns: number, align: 'left' | 'right' = 'left'): Text {
  const space = ' '.repeat(Math.max(0, columns - textWidth(text)));
  return align === 'left' ? [text, space] : [space, text];
}

/** Wraps text at the columns, between words if possible. Line breaks of the text are kept. */
export function wrap(text: string, columns: number): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrapLine(clean(line), Math.max(1, columns)));
}

/**
 * Wraps styled text. A word that is wider than a line is not split: it may be a key or an address, which the
 * reader wants to copy. Further lines are indented like the first.
 */
export function wrapText(text: Text, columns: number): Text[] {
  if (textWidth(text) <= columns) return [text];
  const words = toSpans(text).flatMap(({ text: piece, styles }) =>
    (piece.match(/ +|[^ ]+/g) ?? []).map((word) => ({ text: word, styles, isSpace: word.startsWith(' ') })),
  );
  const margin = words[0]?.isSpace ? words[0].text : '';
  const lines: Text[][] = [[]];
  let width = 0;
  for (const { text: word, styles, isSpace } of words) {
    const wide = widthOf(word);
    const isFull = width + wide > columns && width > widthOf(margin);
    if (isFull) {
      lines.push(margin === '' ? [] : [margin]);
      width = widthOf(margin);
      if (isSpace) continue;
    }
    lines.at(-1)?.push(styled(word, styles));
    width += wide;
  }
  return lines;
}

function styled(text: string, styles: readonly Style[]): Text {
  return styles.reduceRight<Text>((inner, style) => ({ style, text: inner }), text);
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ').flatMap((each) => chop(each, columns))) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (widthOf(longer) <= columns) {
      current = longer;
      continue;
    }
    lines.push(current);
    current = word;
  }
  return [...lines, current];
}

/** A word that is wider than a line. */
function chop(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const grapheme of splitGraphemes(word)) {
    if (piece !== '' && widthOf(piece) + graphemeWidth(grapheme) > columns) {
      pieces.push(piece);
      piece = '';
    }
    piece += grapheme;
  }
  return [...pieces, piece];
}

function toSpans(text: Text, styles: readonly Style[] = []): Span[] {
  if (typeof text === 'string') return text === '' ? [] : [{ text: clean(text), styles }];
  if ('style' in text) return toSpans(text.text, [...styles, text.style]);
  return text.flatMap((piece) => toSpans(piece, styles));
}

function renderSpan({ text, styles }: Span, coloured: boolean): string {
  if (!coloured || styles.length === 0) return text;
  return `\u001b[${styles.map((style) => codes[style]).join(';')}m${text}\u001b[0m`;
}
