import { testNumberOf } from '../messages/test-numbers.ts';
import type { KeyRing } from '../platform/keys.ts';
import { keyedHash } from '../platform/secrets.ts';

/**
 * A verification's code. It derives from the verification's id and a key of the ring, so it is stored nowhere: not with
 * the verification, not with its text. Sending again sends the same code, and whether a code is right is known before
 * the row is touched.
 */
export function codeOf(
  keys: KeyRing,
  environment: 'sandbox' | 'production',
  of: { verificationId: string; ringVersion: number; codeLength: number; recipient: string },
): string {
  if (environment === 'sandbox' && testNumberOf(of.recipient) !== undefined) return testCode(of.codeLength);
  return derivedCode(keys, of.verificationId, of.ringVersion, of.codeLength);
}

export function derivedCode(keys: KeyRing, verificationId: string, ringVersion: number, length: number): string {
  const hash = keyedHash(keys.keyFor('code', ringVersion), `${verificationId}:${length}`);
  // 2^64 is no multiple of a power of ten, but the bias is below 10^10 / 2^64: one part in a billion.
  return (hash.readBigUInt64BE(0) % 10n ** BigInt(length)).toString().padStart(length, '0');
}

/** What every test number of the sandbox gets. */
export function testCode(length: number): string {
  return '1234567890'.slice(0, length);
}

/** The versions of the ring under which this is the code of that verification, as bits. */
export function matchingVersions(keys: KeyRing, verificationId: string, code: string): number {
  let bits = 0;
  for (let version = 1; version <= keys.version; version++) {
    const right = derivedCode(keys, verificationId, version, code.length);
    if (sameDigits(right, code)) bits |= 1 << version;
  }
  return bits;
}

/** Equal lengths, compared without leaving early. */
function sameDigits(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
