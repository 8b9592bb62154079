import type { Clock } from './clock.ts';
import { randomBytes } from './random.ts';

// Crockford's base 32: no i, l, o, u, so an id survives being read aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix = 'acc' | 'app' | 'reg' | 'key' | 'cli' | 'sec' | 'req' | 'nod';

/**
 * An id such as `app_01jcq…`: 48 bits of time, so that ids sort by age and indexes grow at one end, and 80 random bits,
 * so that none can be guessed or met twice.
 */
export function newId(prefix: IdPrefix, clock: Clock): string {
  let time = clock.nowMs();
  let timePart = '';
  for (let i = 0; i < 10; i++) {
    timePart = alphabet[time % 32] + timePart;
    time = Math.floor(time / 32);
  }
  let randomPart = '';
  for (const byte of randomBytes(16)) randomPart += alphabet[byte & 31];
  return `${prefix}_${timePart}${randomPart}`;
}
