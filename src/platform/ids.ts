import type { Clock } from './clock.ts';
import { thirteenOf } from './crypto/random.ts';

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
const codes = Uint8Array.from(Buffer.from(alphabet));
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
  return `${prefix}_${lastTime}${countText(count)}${thirteenOf(codes)}`;
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
 * The bytes of an id that is known to be valid. The first two base 32 digits are one byte, each further eight are five.
 * It writes all uuids into one buffer, which is four times as fast as joining strings.
 */
export function uuidOf(id: string): string {
  return spell(id, spelled, placesOfBytes);
}

/** Like `uuidOf`, without dashes. */
export function hexOf(id: string): string {
  return spell(id, spelledPlain, plainPlaces);
}

function spell(id: string, into: Buffer, places: Uint8Array): string {
  const from = id.length - 26;
  putByte(into, 0, ((digitOf(id, from) << 5) | digitOf(id, from + 1)) & 0xff);
  for (let at = from + 2, byte = 1; byte < 16; at += 8, byte += 5) {
    const high = fourDigits(id, at);
    const low = fourDigits(id, at + 4);
    putByte(into, places[byte] ?? 0, high >> 12);
    putByte(into, places[byte + 1] ?? 0, (high >> 4) & 0xff);
    putByte(into, places[byte + 2] ?? 0, ((high & 0xf) << 4) | (low >> 16));
    putByte(into, places[byte + 3] ?? 0, (low >> 8) & 0xff);
    putByte(into, places[byte + 4] ?? 0, low & 0xff);
  }
  return into.toString('latin1');
}

function fourDigits(id: string, at: number): number {
  return (digitOf(id, at) << 15) | (digitOf(id, at + 1) << 10) | (digitOf(id, at + 2) << 5) | digitOf(id, at + 3);
}

function putByte(into: Buffer, place: number, byte: number): void {
  into[place] = highCodes[byte] ?? 0;
  into[place + 1] = lowCodes[byte] ?? 0;
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

/** The two hexadecimal digits of each byte, as octets. */
const hexCodes = Buffer.from('0123456789abcdef');
const highCodes = Uint8Array.from({ length: 256 }, (_, byte) => hexCodes[byte >> 4] ?? 0);
const lowCodes = Uint8Array.from({ length: 256 }, (_, byte) => hexCodes[byte & 15] ?? 0);
/** Reused buffers: a uuid with dashes for `uuidOf`, one without for `hexOf`; and the place of each byte's two digits. */
const spelled = Buffer.from('00000000-0000-0000-0000-000000000000');
const placesOfBytes = Uint8Array.from([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]);
const spelledPlain = Buffer.alloc(32);
const plainPlaces = Uint8Array.from({ length: 16 }, (_, byte) => 2 * byte);
const digitPairs = Array.from({ length: 1024 }, (_, pair) => `${alphabet[pair >> 5]}${alphabet[pair & 31]}`);
const dash = 45;
const nine = 57;
const digits = new Uint8Array(128);
for (const [value, digit] of [...alphabet].entries()) digits[digit.charCodeAt(0)] = value;

function digitOf(id: string, at: number): number {
  return digits[id.charCodeAt(at)] ?? 0;
}

/** The base 32 digits of the counter. Low values, the usual ones, come from a table. */
function countText(number: number): string {
  return number < digitPairs.length ? `0${digitPairs[number]}` : base32(number, countLength);
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
