import { createHmac } from 'node:crypto';
import { stretchCost, stretchSecret } from '../platform/crypto/key-ring-store.ts';
import { sameBytes } from '../platform/crypto/secrets.ts';
import type { BackupLabel } from './backup-file.ts';
import { chunkBytes, cipherName } from './sealed-chunks.ts';

/** The key of a backup, before its label is known. */
export interface BackupKey {
  /** Identifies the secret that the key was made from, without revealing it. */
  check: string;
  /** Each label has a key of its own: with another label, or in another file, no chunk can be decrypted. */
  chunkKey(label: Buffer): Buffer;
}

export async function createBackupKey(secret: string, salt: Buffer): Promise<BackupKey> {
  const stretched = await stretchSecret(secret, salt);
  const derive = (purpose: string, bytes: Buffer | string) =>
    createHmac('sha256', stretched).update(`${purpose}\0`).update(bytes).digest();
  return {
    check: derive('encrypted-backup-check', '').toString('hex'),
    chunkKey: (label) => derive('encrypted-backup', label),
  };
}

/** How this version encrypts. */
export function describeKey(salt: Buffer): Pick<BackupLabel, 'cipher' | 'chunk_bytes' | 'kdf'> {
  const kdf = { name: 'scrypt', ...stretchCost, salt: salt.toString('hex') };
  return { cipher: cipherName, chunk_bytes: chunkBytes, kdf };
}

/** The first of these secrets that fits the check. */
export async function findKey<Key extends { check: string }>(
  secrets: readonly string[],
  check: string,
  make: (secret: string) => Promise<Key>,
): Promise<Key | undefined> {
  for (const secret of secrets) {
    const key = await make(secret);
    if (sameHex(key.check, check)) return key;
  }
  return undefined;
}

export function sameHex(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return first.length === 32 && second.length === 32 && sameBytes(first, second);
}
