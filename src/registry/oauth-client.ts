import type { KeyRing } from '../platform/crypto/keys.ts';
import { randomBase62 } from '../platform/crypto/random.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';

export interface StoredSecret {
  id: string;
  hash: Buffer;
  ringVersion: number;
  expiresAtMs: number | null;
  /** Suspended by a restore: it opens nothing until it is enabled. */
  suspended: boolean;
  /** The secret in clear, kept in memory after its first use to save the hash. */
  presented?: Buffer;
}

/** 256 random bits need no slow hash: they cannot be guessed, and a token request must not cost half a second. */
export function newClientSecret(keys: KeyRing): {
  secret: string;
  hash: Buffer;
  ringVersion: number;
  lastFour: string;
} {
  const { version: ringVersion } = keys;
  const secret = `hgs_${randomBase62(43)}`;
  return { secret, hash: hashClientSecret(keys, secret, ringVersion), ringVersion, lastFour: secret.slice(-4) };
}

function hashClientSecret(keys: KeyRing, secret: string, ringVersion: number): Buffer {
  return keyedHash(keys.keyFor('client-secret', ringVersion), secret);
}

/** Finds the stored secret that matches and has not expired; it may be suspended. Compares all of them, even after a match. */
export function findSecret(
  keys: KeyRing,
  stored: StoredSecret[],
  presented: string,
  nowMs: number,
): StoredSecret | undefined {
  let found: StoredSecret | undefined;
  const bytes = Buffer.from(presented);
  for (const candidate of stored) {
    const same = isSecret(keys, candidate, presented, bytes);
    if (same && (candidate.expiresAtMs === null || candidate.expiresAtMs > nowMs)) found = candidate;
  }
  return found;
}

/** The clear secret is dropped when its application changes. It can only confirm a match, never rule one out. */
function isSecret(keys: KeyRing, stored: StoredSecret, presented: string, bytes: Buffer): boolean {
  if (stored.presented !== undefined && sameBytes(stored.presented, bytes)) return true;
  if (!sameBytes(stored.hash, hashClientSecret(keys, presented, stored.ringVersion))) return false;
  stored.presented = bytes;
  return true;
}
