import type { Clock } from './clock.ts';
import { randomBase32 } from './crypto/random.ts';

// Crockford's base 32 has no i, l, o or u, so a person can read an id aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix =
  | 'acc'
  | 'per'
  | 'inv'
  | 'app'
  | 'reg'
  | 'key'
  | 'cli'
  | 'sec'
  | 'cky'
  | 'req'
  | 'nod'
  | 'msg'
  | 'ver'
  | 'tst'
  | 'snd'
  | 'inb'
  | 'num'
  | 'opt'
  | 'alr'
  | 'evt'
  | 'whk'
  | 'hok'
  | 'hld'
  | 'aud'
  | 'sin'
  | 'smp'
  | 'bnd'
  | 'prt';

const timeLength = 10;
const countLength = 3;
const randomLength = 13;
const idLength = 4 + timeLength + countLength + randomLength;

let lastMs = Number.NaN;
let lastTime = '';
let count = 0;

/**
 * An id such as `app_01jcq…`: 48 bits of time and a counter within the millisecond, so that ids sort by age and indexes
 * grow at one end; then 65 random bits against guessing and collisions. Together they are 16 bytes, which Postgres
 * stores as a `uuid`.
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
  return text.length === idLength && text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]*$/.test(text.slice(4));
}

/** The time at which the id was made. */
export function idTimeMs(id: string): number {
  let ms = 0;
  for (const digit of id.slice(4, 4 + timeLength)) ms = ms * 32 + alphabet.indexOf(digit);
  return ms;
}

/** The 16 bytes of an id, as Postgres reads a `uuid`. Undefined when the text is no id of this kind. */
export function toUuid(prefix: IdPrefix, id: string): string | undefined {
  return isId(prefix, id) ? uuidOf(id) : undefined;
}

/**
 * The same for an id that is known to be one, spelled as Postgres writes it. Four base 32 digits are five hexadecimal
 * ones; the first two digits of an id are the first byte. Every text needs several, so it is written octet by octet:
 * that takes a third of the time of joining strings.
 */
export function uuidOf(id: string): string {
  return spell(id, spelled, placesOfDigits);
}

/** The same without dashes. */
export function hexOf(id: string): string {
  return spell(id, spelledPlain, plainPlaces);
}

function spell(id: string, into: Buffer, places: Uint8Array): string {
  const end = id.length;
  const first = (digitOf(id, end - 26) << 5) | digitOf(id, end - 25);
  into[0] = hexCodes[(first >> 4) & 0xf] ?? 0;
  into[1] = hexCodes[first & 0xf] ?? 0;
  let place = 2;
  for (let at = end - 24; at < end; at += 4) {
    const number =
      (digitOf(id, at) << 15) | (digitOf(id, at + 1) << 10) | (digitOf(id, at + 2) << 5) | digitOf(id, at + 3);
    for (let shift = 16; shift >= 0; shift -= 4) {
      into[places[place++] ?? 0] = hexCodes[(number >> shift) & 0xf] ?? 0;
    }
  }
  return into.toString('latin1');
}

function withDashes(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The id whose bytes these are, given as Postgres writes a `uuid`. The first byte is two digits, as above. */
export function fromUuid(prefix: IdPrefix, uuid: string): string {
  let text = `${prefix}_`;
  let bits = 0;
  let left = 2;
  for (let at = 0; at < uuid.length; at++) {
    const code = uuid.charCodeAt(at);
    if (code === dash) continue;
    bits = (bits << 4) | (code > nine ? code - 87 : code - 48);
    if (--left > 0) continue;
    text += at < 2 ? digitPairs[bits] : `${digitPairs[bits >> 10]}${digitPairs[bits & 1023]}`;
    bits = 0;
    left = 5;
  }
  return text;
}

/** The smallest uuid of an id made at this time or later. */
export function uuidFloor(atMs: number): string {
  return withDashes(Math.max(0, Math.floor(atMs)).toString(16).padStart(12, '0').padEnd(32, '0'));
}

/** The time at which the id with these bytes was made. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

const hexCodes = Uint8Array.from(Buffer.from('0123456789abcdef'));
/** A uuid with its dashes, written anew by each call of `uuidOf`, and one without them. */
const spelled = Buffer.from('00000000-0000-0000-0000-000000000000');
const placesOfDigits = Uint8Array.from([...spelled.keys()].filter((at) => spelled[at] !== 0x2d));
const spelledPlain = Buffer.alloc(32);
const plainPlaces = Uint8Array.from(spelledPlain.keys());
const digitPairs = Array.from({ length: 1024 }, (_, pair) => `${alphabet[pair >> 5]}${alphabet[pair & 31]}`);
const dash = 45;
const nine = 57;
const digits = new Uint8Array(128);
for (const [value, digit] of [...alphabet].entries()) digits[digit.charCodeAt(0)] = value;

function digitOf(id: string, at: number): number {
  return digits[id.charCodeAt(at)] ?? 0;
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

/** 16 bytes as Postgres writes a `uuid`. */
export function toUuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
