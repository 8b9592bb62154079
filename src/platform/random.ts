import { randomFillSync } from 'node:crypto';

// One system call fills the pool for some hundred requests: randomBytes(16) costs 5.6 µs each, a slice of the pool 0.6.
const pool = Buffer.allocUnsafe(8192);
let used = pool.length;

/** Unpredictable bytes. The returned buffer is a copy: the pool's own bytes are wiped once handed out. */
export function randomBytes(size: number): Buffer {
  if (size > pool.length) return randomFillSync(Buffer.allocUnsafe(size));
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
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

/** A fraction in [0, 1) for jitter. */
export function randomFraction(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}
