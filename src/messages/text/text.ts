import { septetsOf } from './gsm.ts';

export type Encoding = 'GSM-7' | 'UCS-2';

export interface Segments {
  /** Parts that the carrier sends and bills. */
  count: number;
  encoding: Encoding;
  /** Unicode code points, as a reader counts: `😀` and `€` are one each, whatever they cost to send. */
  characters: number;
  /**
   * Free units in the last part: septets (`€` takes two) or UTF-16 units (`😀` takes two). A character that needs more
   * starts a new part.
   */
  remaining: number;
}

/**
 * A part carries 140 octets: 160 septets or 70 UTF-16 units. In a multipart text each part starts with a 6-octet header
 * by which the phone joins them (3GPP TS 23.040, section 9.2.3.24.1), which leaves 153 or 67.
 */
const room = { 'GSM-7': { alone: 160, joined: 153 }, 'UCS-2': { alone: 70, joined: 67 } } as const;

const mostSegments = 10;

/**
 * Maximum number of UTF-16 units that we process, checked first. Twice the septets of the longest text: smart encoding
 * can compose a letter and its mark into one character.
 */
export const longestText = 2 * mostSegments * room['GSM-7'].joined;

const limits = `${mostSegments * room['GSM-7'].joined} septets in GSM-7, ${mostSegments * room['UCS-2'].joined} UTF-16 units in UCS-2`;
export const rightText = `a text of 1 to ${mostSegments} segments (${limits})`;

export function tooLongProblem(text: string): string {
  return `must fit in ${mostSegments} segments (${limits}), this text has ${text.length} UTF-16 units`;
}

/** Measures the segments of a text. The empty text is one empty part, as on the wire. */
export function measure(text: string): Segments {
  const septets = countSeptets(text, 0, text.length);
  const encoding: Encoding = septets < 0 ? 'UCS-2' : 'GSM-7';
  const characters = septets < 0 ? text.length - countPairs(text) : text.length;
  const units = septets < 0 ? text.length : septets;
  const { alone, joined } = room[encoding];
  if (units <= alone) return { count: 1, encoding, characters, remaining: alone - units };

  // A pair that would straddle two parts leaves a unit free in the first, so a division would miscount.
  let count = 1;
  let start = 0;
  for (let end = endOfPart(text, 0, encoding); end < text.length; end = endOfPart(text, end, encoding)) {
    start = end;
    count++;
  }
  const inLast = septets < 0 ? text.length - start : countSeptets(text, start, text.length);
  return { count, encoding, characters, remaining: joined - inLast };
}

/**
 * The parts as sent. Phones decode each part alone, so no part ends inside an escape or a surrogate pair. A part may
 * end inside a grapheme cluster: phones show the joined text, and keeping clusters whole could only cost parts.
 */
export function split(text: string): string[] {
  const { count, encoding } = measure(text);
  if (count === 1) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfPart(text, start, encoding);
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/**
 * Why a text can't be sent (completes a sentence that begins with "message"), or undefined. A caller that has measured
 * the text passes the segments to avoid a second pass.
 */
export function textProblem(text: string, segments: Segments = measure(text)): string | undefined {
  if (text.length === 0) return 'must have at least one character';
  // GSM-7 contains neither NUL nor surrogates.
  const unsendable = segments.encoding === 'UCS-2' ? findUnsendable(text) : undefined;
  if (unsendable !== undefined) return unsendable;
  if (segments.count <= mostSegments) return undefined;
  const { joined } = room[segments.encoding];
  const limit = `${mostSegments * joined} ${segments.encoding === 'GSM-7' ? 'septets' : 'UTF-16 units'}`;
  return `must fit in ${mostSegments} segments (${limit} in ${segments.encoding}), this text would be ${segments.count} segments`;
}

/** Where the part that starts at `start` ends, in a multipart text. */
function endOfPart(text: string, start: number, encoding: Encoding): number {
  const { joined } = room[encoding];
  if (encoding === 'UCS-2') {
    const end = start + joined;
    if (end >= text.length) return text.length;
    return isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end)) ? end - 1 : end;
  }
  let end = start;
  for (let free: number = joined; end < text.length; end++) {
    free -= septetsOf[text.charCodeAt(end)] ?? 0;
    if (free < 0) break;
  }
  return end;
}

/** Returns -1 when a character is not in GSM-7. */
function countSeptets(text: string, from: number, to: number): number {
  let septets = 0;
  for (let i = from; i < to; i++) {
    const cost = septetsOf[text.charCodeAt(i)] ?? 0;
    if (cost === 0) return -1;
    septets += cost;
  }
  return septets;
}

function countPairs(text: string): number {
  let pairs = 0;
  for (let i = 1; i < text.length; i++) {
    if (isLow(text.charCodeAt(i)) && isHigh(text.charCodeAt(i - 1))) pairs++;
  }
  return pairs;
}

function findUnsendable(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0) return `must not contain a NUL character (at index ${i})`;
    const paired = isHigh(unit) && isLow(text.charCodeAt(i + 1));
    if (paired) i++;
    else if (isHigh(unit) || isLow(unit)) return `must not contain an unpaired surrogate (at index ${i})`;
  }
  return undefined;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

/** False for NaN, which charCodeAt returns past the end. */
function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
