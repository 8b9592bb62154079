// Tests: test/contract/given-codes.test.ts, test/contract/given-code-secrets.test.ts
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { openSealed, sealWith } from '../../platform/crypto/seal.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';

// A code that the caller made. Postgres gets it sealed, while it is pending, and as a keyed hash; both are bound to the
// verification's id.

/** A verification, and the version of the ring that its row names. */
export interface CodeOwner {
  id: string;
  ringVersion: number;
}

/** A caller's code that another start has replaced. */
export interface SupersededCode extends CodeOwner {
  codeHash: string;
}

type Keys = Pick<KeyRing, 'keyFor'>;

const hashBytes = 16;

/** Bytes in the text format of Postgres. */
export const toCell = (bytes: Buffer) => `\\x${bytes.toString('hex')}`;

export function givenHash(keys: Keys, { id, ringVersion }: CodeOwner, code: string): string {
  return toCell(keyedHash(keys.keyFor('given-code', ringVersion), `${id}:${code}`).subarray(0, hashBytes));
}

export function sealCode(keys: Keys, owner: CodeOwner, code: string): string {
  return toCell(sealWith(sealingKey(keys, owner), Buffer.from(code), owner.id));
}

export function openCode(keys: Keys, owner: CodeOwner, sealed: Buffer): string {
  return openSealed(sealingKey(keys, owner), sealed, owner.id).toString();
}

/** `givenHash` hashes an id with digits behind it, so this key never equals such a hash. */
function sealingKey(keys: Keys, { id, ringVersion }: CodeOwner): Buffer {
  return keyedHash(keys.keyFor('given-code', ringVersion), `${id}:seal`);
}

/** The hashes that this code has for the verification under each version in use since `sinceMs`. Usually one. */
export function possibleHashes(keys: KeyRing, id: string, code: string, sinceMs: number): string[] {
  return keys.versionsSince(sinceMs).map((ringVersion) => givenHash(keys, { id, ringVersion }, code));
}

/** Whether a start wants this verification's code: the same caller's code, or one of ours with the same length. */
export function isSameCode(
  keys: Keys,
  verification: CodeOwner & { codeHash: string | null; codeLength: number },
  wanted: { code?: string | undefined; codeLength: number },
): boolean {
  const { codeHash, codeLength } = verification;
  if (wanted.code === undefined) return codeHash === null && codeLength === wanted.codeLength;
  // Both are keyed hashes, so the time of a comparison shows nothing about a code.
  return codeHash !== null && codeHash === givenHash(keys, verification, wanted.code);
}
