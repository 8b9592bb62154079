import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA-256: how every credential and payload is stored, so that a copy of the database opens nothing. */
export function keyedHash(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Compares in a time that tells nothing of where two values differ. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** For two texts of any length: the lengths are hidden as well, by comparing hashes under a key of the caller's. */
export function sameText(key: Buffer, a: string, b: string): boolean {
  return timingSafeEqual(keyedHash(key, a), keyedHash(key, b));
}
