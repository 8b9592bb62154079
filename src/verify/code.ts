// Tests: test/contract/verification-secrets.test.ts, test/contract/ring-rotation.test.ts
import { testCodeDigits, testNumberOf } from '../messages/numbers/test-numbers.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';

/**
 * Derives a verification's code from its id and a ring key, so no row stores it. A resend repeats the same code, and a
 * check compares the code before it touches the row.
 */
export function codeOf(
  keys: KeyRing,
  environment: 'sandbox' | 'production',
  of: { verificationId: string; ringVersion: number; codeLength: number; to: string; payment?: string | null },
): string {
  if (environment === 'sandbox' && testNumberOf(of.to) !== undefined) return testCode(of.codeLength);
  return derivedCode(keys, of.verificationId, of.ringVersion, of.codeLength, of.payment);
}

/** `payment` is a row's cell: a code for one amount or payee is none for another. */
export function derivedCode(
  keys: KeyRing,
  verificationId: string,
  ringVersion: number,
  length: number,
  payment: string | null = null,
): string {
  const limit = 10 ** length;
  let number = 0;
  // 64 bits of the hash, in parts, because a number holds 53. 2^64 is not a multiple of a power of ten, but the bias is
  // below 10^10 / 2^64: one part in a billion.
  const bound = payment === null ? `${verificationId}:${length}` : `${verificationId}:${length}:${payment}`;
  const hash = keyedHash(keys.keyFor('code', ringVersion), bound);
  for (let at = 0; at < 8; at += 2) number = (number * 65_536 + hash.readUInt16BE(at)) % limit;
  return String(number).padStart(length, '0');
}

/** The code of every sandbox test number. */
export function testCode(length: number): string {
  return testCodeDigits.slice(0, length);
}

/**
 * The ring versions under which this is the verification's code. The row names the version, but is not read yet; only
 * versions in use since `sinceMs` are possible.
 */
export function matchingVersions(
  keys: KeyRing,
  verificationId: string,
  code: string,
  sinceMs: number,
  payment: string | null = null,
): number[] {
  return keys
    .versionsSince(sinceMs)
    .filter((version) => sameDigits(derivedCode(keys, verificationId, version, code.length, payment), code));
}

/** Compares without an early exit, so the time does not depend on the digits. */
function sameDigits(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
