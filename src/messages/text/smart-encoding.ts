import { isGsm, septetsOf } from './gsm.ts';
import { measure } from './text.ts';

export interface Offender {
  /** The character outside GSM-7, with its combining marks when they are replaced together. */
  character: string;
  /** Index in UTF-16 units. */
  index: number;
  /** What smart encoding writes instead: empty for invisible characters, null when there is no look-alike. */
  substitute: string | null;
}

/**
 * Typography only: a person reads both the same. Letters keep their accents ("papá" is not "papa") and digits their
 * height (10² is not 102).
 */
const looksLike: Record<string, string> = {
  '"': '«»“”„‟″〝〞〟❝❞ʺˮ',
  "'": '‘’‚‛′‹›❛❜`´ʹʻʼʽˈˊˋ',
  '-': '‐‑‒–—―−⁃˗﹘﹣•‣◦∙▪●',
  '.': '·‧․',
  '/': '⁄∕÷',
  x: '×',
  '|': '¦∣',
  '*': '∗⁎',
  '~': '∼˜⁓',
  '^': 'ˆ',
  _: '‗',
  ':': '∶',
  ' ': '\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
  '\n': '\u000b\u0085\u2028\u2029',
  // Soft hyphen, zero-width space and joiners, direction marks, word joiner, variation selectors, byte order mark.
  '': '\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff',
};

const writtenOut = pairs(
  '… ... ⋯ ... ‥ .. ‼ !! ⁇ ?? ⁈ ?! ⁉ !? ≤ <= ≥ >= → -> ← <- ⇒ => © (c) ® (R) ™ (TM) № No. ' +
    'ﬀ ff ﬁ fi ﬂ fl ﬃ ffi ﬄ ffl ﬅ st ﬆ st œ oe Œ OE ĳ ij Ĳ IJ',
);

const fractions = pairs(
  '½ 1/2 ⅓ 1/3 ⅔ 2/3 ¼ 1/4 ¾ 3/4 ⅕ 1/5 ⅖ 2/5 ⅗ 3/5 ⅘ 4/5 ⅙ 1/6 ⅚ 5/6 ⅐ 1/7 ⅛ 1/8 ⅜ 3/8 ⅝ 5/8 ⅞ 7/8 ⅑ 1/9 ⅒ 1/10',
);

const substitutes = makeSubstitutes();

function pairs(list: string): Map<string, string> {
  const words = list.split(' ');
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < words.length; i += 2) map.set(words[i] ?? '', words[i + 1] ?? '');
  return map;
}

function makeSubstitutes(): Map<string, string> {
  const map = new Map([...writtenOut, ...fractions]);
  for (const [substitute, characters] of Object.entries(looksLike)) {
    for (const character of characters) map.set(character, substitute);
  }
  // Unicode lists the fullwidth forms in the order of their ASCII characters.
  for (let wide = 0xff01; wide <= 0xff5e; wide++) {
    const narrow = String.fromCharCode(wide - 0xfee0);
    map.set(String.fromCharCode(wide), map.get(narrow) ?? narrow);
  }
  return map;
}

/** The first `most` characters that keep a text out of GSM-7, in order. */
export function offenders(text: string, most = Number.POSITIVE_INFINITY): Offender[] {
  const found: Offender[] = [];
  for (const offender of findOffenders(text)) if (found.push(offender) >= most) break;
  return found;
}

/** A generator, so that callers can stop early. */
function* findOffenders(text: string): Generator<Offender, void> {
  let before = '';
  for (let i = 0; i < text.length; ) {
    const composed = composedAt(text, i);
    const character = composed ?? String.fromCodePoint(text.codePointAt(i) ?? 0);
    if (composed !== undefined || septetsOf[text.charCodeAt(i)] === 0) {
      const substitute = substituteOf(character, before);
      yield { character, index: i, substitute };
      if (substitute !== '') before = substitute?.at(-1) ?? character;
    } else {
      before = character;
    }
    i += character.length;
  }
}

/**
 * Returns the text in GSM-7 if look-alikes replace every offender in no more segments, else the text in NFC: one emoji
 * makes it UCS-2 anyway, and `...` for `…` could then cost a segment.
 */
export function smartEncode(text: string): string {
  if (isGsm(text)) return text;
  let encoded = '';
  let end = 0;
  for (const { character, index, substitute } of findOffenders(text)) {
    if (substitute === null) return compose(text);
    encoded += text.slice(end, index) + substitute;
    end = index + character.length;
  }
  encoded += text.slice(end);
  const normalized = compose(text);
  return measure(encoded).count <= measure(normalized).count ? encoded : normalized;
}

const mark = /^\p{M}/u;

/**
 * A letter with its combining mark when NFC composes them into a GSM-7 character: `e` and U+0301 are é. No GSM-7
 * character has two marks, so a second mark rules it out.
 */
function composedAt(text: string, index: number): string | undefined {
  const next = text[index + 1];
  if (next === undefined || next < '\u0300' || !mark.test(next)) return undefined;
  const behind = text.codePointAt(index + 2);
  if (behind !== undefined && mark.test(String.fromCodePoint(behind))) return undefined;
  const whole = text.slice(index, index + 2);
  return isGsm(whole.normalize('NFC')) ? whole : undefined;
}

/** More marks than any language writes on one letter (Unicode Standard Annex 15, Stream-Safe Text Format). */
const mostMarks = 30;

/** Normalising a long run of marks takes quadratic time, so a text with such a run stays unchanged. */
function compose(text: string): string {
  const runs = text.match(/\p{M}+/gu) ?? [];
  return runs.some(({ length }) => length > mostMarks) ? text : text.normalize('NFC');
}

function substituteOf(character: string, before: string): string | null {
  // Unicode maps some characters to others: the ohm sign U+2126 is Ω, the ångström sign U+212B is Å.
  const normalized = character.normalize('NFC');
  if (isGsm(normalized)) return normalized;
  const substitute = substitutes.get(normalized);
  if (substitute === undefined) return null;
  // 2½ becomes 2 1/2, not 21/2.
  return fractions.has(normalized) && before >= '0' && before <= '9' ? ` ${substitute}` : substitute;
}
