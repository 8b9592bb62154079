import type { KeyRing } from '../../platform/crypto/keys.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import { senderName } from '../texts/sender-name.ts';
import type { Verification } from '../verification.ts';

/** What a person has to text, and to which number. */
export interface InboundRequest {
  number: string;
  text: string;
}

/** In the sandbox this number receives the texts for every application. */
export const sandboxNumber = '+15005550199';

const digits = 8;

/** The form in rows: the number has no space, so it can be split again. */
export function toInboundCell(number: string, app: string): string {
  return `${number} ${senderName(app)}`;
}

/** What the person must text; undefined for other verifications. The digits derive from the key ring. */
export function inboundOf(
  keys: Pick<KeyRing, 'keyFor'>,
  { id, ringVersion, inbound }: Pick<Verification, 'id' | 'ringVersion' | 'inbound'>,
): InboundRequest | undefined {
  if (inbound === null) return undefined;
  const at = inbound.indexOf(' ');
  const hash = keyedHash(keys.keyFor('code', ringVersion), `${id}:inbound`);
  const token = String(hash.readUInt32BE(0) % 10 ** digits).padStart(digits, '0');
  return { number: inbound.slice(0, at), text: `${inbound.slice(at + 1)} ${token}` };
}

/** Compares whole texts. Ignores case and spacing, which phones change. */
export function isSameText(a: string, b: string): boolean {
  return plainText(a) === plainText(b);
}

export function plainText(text: string): string {
  return text.normalize('NFC').trim().replace(/\s+/gu, ' ').toLowerCase();
}
