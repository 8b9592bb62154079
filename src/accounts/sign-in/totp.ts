import { createHmac } from 'node:crypto';
import { sameBytes } from '../../platform/crypto/secrets.ts';

// Time-based one-time passwords as RFC 6238 defines them, with the values that every authenticator app uses.

const stepSeconds = 30;
const digits = 6;
export const secretBytes = 20;
/** A phone's clock may be one step off. */
const drift = 1;

/** Index of the 30-second step of a time. */
export function stepAt(timeMs: number): number {
  return Math.floor(timeMs / 1000 / stepSeconds);
}

/** The code of one step (RFC 4226, section 5.3). */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step of this code: the current one, or one before or after. Undefined for a wrong code. */
export function findStep(secret: Buffer, code: string, timeMs: number): number | undefined {
  const given = Buffer.from(code);
  const now = stepAt(timeMs);
  let found: number | undefined;
  // Compare all of them, so that the time does not show which one matched.
  for (let step = now - drift; step <= now + drift; step++) {
    if (step >= 0 && sameBytes(given, Buffer.from(codeOf(secret, step)))) found ??= step;
  }
  return found;
}

/** The content of a QR code for authenticator apps. */
export function otpauthUri(secret: Buffer, { issuer, email }: { issuer: string; email: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const query = new URLSearchParams({ secret: toBase32(secret), issuer, algorithm: 'SHA1', digits: '6', period: '30' });
  return `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20')}`;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
export function toBase32(bytes: Buffer): string {
  let text = '';
  let [bits, value] = [0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      text += alphabet[(value >>> (bits - 5)) & 31];
      bits -= 5;
    }
    value &= (1 << bits) - 1;
  }
  if (bits > 0) text += alphabet[(value << (5 - bits)) & 31];
  return text;
}
