import type { Clock } from './clock.ts';
import { randomBase32 } from './random.ts';

// Crockford's base 32 has no i, l, o or u, so a person can read an id aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix = 'acc' | 'app' | 'reg' | 'key' | 'cli' | 'sec' | 'req' | 'nod' | 'msg' | 'ver';

const timeLength = 10;
const countLength = 3;
const randomLength = 13;
const idLength = 4 + timeLength + countLength + randomLength;

let lastMs = Number.NaN;
let lastTime = '';
let count = 0;

/**
 * An id such as `app_01jcq…`: 50 bits of time and a counter within the millisecond, so that ids sort by age and indexes
 * grow at one end; then 65 random bits against guessing and collisions.
 */
export function newId(prefix: IdPrefix, clock: Clock): string {
  const nowMs = Math.floor(clock.nowMs());
  if (nowMs === lastMs) {
    count++;
  } else {
    count = 0;
    lastMs = nowMs;
    lastTime = base32(nowMs, timeLength);
  }
  return `${prefix}_${lastTime}${base32(count, countLength)}${randomBase32(alphabet, randomLength)}`;
}

/** Sorts before every id made at this time or later, and after every earlier id. */
export function idFloor(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${base32(Math.floor(atMs), timeLength)}${'0'.repeat(countLength + randomLength)}`;
}

/** The longest time between a request's id and the ids of the records it creates. */
export const longestRequestMs = 30_000;

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === idLength && text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]*$/.test(text.slice(4));
}

/** The time at which the id was made. */
export function idTimeMs(id: string): number {
  let ms = 0;
  for (const digit of id.slice(4, 4 + timeLength)) ms = ms * 32 + alphabet.indexOf(digit);
  return ms;
}

/** The lowest `length` base 32 digits of a whole number. */
function base32(number: number, length: number): string {
  let rest = number;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
