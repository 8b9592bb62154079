/**
 * HMAC-SHA-256 of a short text under one key, as its first 64 bits in four parts of 16. Node's own takes four times as
 * long for so little text, because it sets up a context each time; here the key's part is computed once. Neither
 * branches nor lookups depend on the text or the key.
 */
export type ShortHmac = (text: string) => readonly [number, number, number, number];

/** The text and its end must fit into one block of 64 bytes. */
export const longestShortText = 55;
const [blockBytes, hashBytes] = [64, 32];

/** For keys of at most 64 bytes. */
export function createShortHmac(key: Uint8Array): ShortHmac {
  if (key.length > blockBytes) throw new Error('the key is longer than a block');
  const inner = afterKey(key, 0x36);
  const outer = afterKey(key, 0x5c);
  const state = new Int32Array(8);
  return (text) => {
    writeText(text);
    state.set(inner);
    compress(state);
    writeHash(state);
    state.set(outer);
    compress(state);
    const first = of(state, 0);
    const second = of(state, 1);
    return [first >>> 16, first & 0xffff, second >>> 16, second & 0xffff];
  };
}

/** The block that is compressed next, and what SHA-256 derives from it. Compression never pauses, so one is enough. */
const words = new Int32Array(64);

function afterKey(key: Uint8Array, pad: number): Int32Array {
  words.fill(pad * 0x01010101, 0, 16);
  for (const [at, byte] of key.entries()) words[at >> 2] = word(at >> 2) ^ (byte << shiftOf(at));
  const state = Int32Array.from(start);
  compress(state);
  return state;
}

function writeText(text: string): void {
  if (text.length > longestShortText) throw new Error('the text does not fit into one block');
  words.fill(0, 0, 16);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) throw new Error('the text is not ASCII');
    words[at >> 2] = word(at >> 2) | (code << shiftOf(at));
  }
  endBlock(text.length);
}

function writeHash(hash: Int32Array): void {
  words.fill(0, 0, 16);
  words.set(hash);
  endBlock(hashBytes);
}

/** SHA-256's padding: a bit after the last byte, and the length in bits, the key's block included. */
function endBlock(bytes: number): void {
  words[bytes >> 2] = word(bytes >> 2) | (0x80 << shiftOf(bytes));
  words[15] = (blockBytes + bytes) * 8;
}

const shiftOf = (byte: number) => 24 - 8 * (byte & 3);
const of = (numbers: Int32Array, at: number) => numbers[at] as number;
const word = (at: number) => of(words, at);
const rotated = (bits: number, by: number) => (bits >>> by) | (bits << (32 - by));

function compress(state: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = word(i - 15);
    const y = word(i - 2);
    const first = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
    const second = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
    words[i] = word(i - 16) + first + word(i - 7) + second;
  }
  // One by one: to take an array apart, or put one together, would cost more than the rest.
  let a = of(state, 0);
  let b = of(state, 1);
  let c = of(state, 2);
  let d = of(state, 3);
  let e = of(state, 4);
  let f = of(state, 5);
  let g = of(state, 6);
  let h = of(state, 7);
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const added =
      (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + of(roundConstants, i) + word(i)) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + added) | 0;
    d = c;
    c = b;
    b = a;
    a = (added + (rotated(b, 2) ^ rotated(b, 13) ^ rotated(b, 22)) + majority) | 0;
  }
  state[0] = of(state, 0) + a;
  state[1] = of(state, 1) + b;
  state[2] = of(state, 2) + c;
  state[3] = of(state, 3) + d;
  state[4] = of(state, 4) + e;
  state[5] = of(state, 5) + f;
  state[6] = of(state, 6) + g;
  state[7] = of(state, 7) + h;
}

/** The first 32 bits of the fraction of a root of each of the first primes. */
function fractions(count: number, root: (prime: number) => number): Int32Array {
  const bits: number[] = [];
  for (let number = 2; bits.length < count; number++) {
    if (isPrime(number)) bits.push(Math.floor((root(number) % 1) * 2 ** 32));
  }
  return Int32Array.from(bits, (value) => value | 0);
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}

const start = fractions(8, Math.sqrt);
const roundConstants = fractions(64, Math.cbrt);
