import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA-256. We store credentials and payloads only as this hash, so a stolen database opens nothing. */
export function keyedHash(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Compares in constant time: the time does not show where two values differ. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares two texts of any length. Hashing them under the caller's key hides their lengths too. */
export function sameText(key: Buffer, a: string, b: string): boolean {
  return timingSafeEqual(keyedHash(key, a), keyedHash(key, b));
}
