import type { Clock } from './clock.ts';
import { randomBytes } from './random.ts';

// Crockford's base 32: no i, l, o, u, so an id survives being read aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix = 'acc' | 'app' | 'reg' | 'key' | 'cli' | 'sec' | 'req' | 'nod' | 'msg' | 'ver';

/**
 * An id such as `app_01jcq…`: 48 bits of time, so that ids sort by age and indexes grow at one end, and 80 random bits,
 * so that none can be guessed or met twice.
 */
export function newId(prefix: IdPrefix, clock: Clock): string {
  let randomPart = '';
  for (const byte of randomBytes(16)) randomPart += alphabet[byte & 31];
  return `${prefix}_${timePart(clock.nowMs())}${randomPart}`;
}

/** Sorts before every id made at this time or later, and after every one made before. */
export function idFloor(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${timePart(atMs)}${'0'.repeat(16)}`;
}

function timePart(ms: number): string {
  let time = Math.floor(ms);
  let text = '';
  for (let i = 0; i < 10; i++) {
    text = alphabet[time % 32] + text;
    time = Math.floor(time / 32);
  }
  return text;
}
