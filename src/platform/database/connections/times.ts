import { types } from 'pg';

// Read all times, also in arrays (from array_agg), as milliseconds: the program knows one kind of time.
const [textArray, timestamptzArray, int8Array, uuidArray] = [1009, 1185, 1016, 2951];
const readTextArray = types.getTypeParser(textArray, 'text') as (text: string) => (string | null)[];
types.setTypeParser(types.builtins.TIMESTAMPTZ, readTime);
types.setTypeParser(timestamptzArray, (text) => readTextArray(text).map((entry) => entry && readTime(entry)));
types.setTypeParser(types.builtins.INT8, Number);
types.setTypeParser(uuidArray, (text) => (text.length === 2 ? [] : text.slice(1, -1).split(',')));
types.setTypeParser(int8Array, (text) => readTextArray(text).map((entry) => entry && Number(entry)));

/** Reads `2026-11-16 03:12:10.123456+00`. Every row holds several times, and `Date.parse` takes several times as long. */
export function readTime(text: string): number {
  const isTime = text[4] === '-' && text[10] === ' ' && text[13] === ':' && text[16] === ':' && text.endsWith('+00');
  if (!isTime) throw new Error(`the database wrote a time as ${text}`);
  // The fraction has no trailing zeros, and none at all for a whole second.
  const end = Math.min(text.length - 3, 23);
  const millis = end <= 20 ? 0 : digits(text, 20, end) * 10 ** (23 - end);
  return Date.UTC(
    digits(text, 0, 4),
    digits(text, 5, 7) - 1,
    digits(text, 8, 10),
    digits(text, 11, 13),
    digits(text, 14, 16),
    digits(text, 17, 19),
    millis,
  );
}

/** Like `readTime`, for a time that may be null in a packed row. */
export function readTimeOrNull(text: string): number | null {
  return text === '' ? null : readTime(text);
}

function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - 48;
  return number;
}
