import { scrypt } from 'node:crypto';
import { toTimestamp } from '../clock.ts';
import { advisoryLocks } from '../database/advisory-locks.ts';
import type { Tx } from '../database/database.ts';
import { randomBytes } from './random.ts';
import { openSealed, sealWith } from './seal.ts';

/** One version of the ring as it is stored: its root key, wrapped by the master secret. */
export interface RingRow {
  version: number;
  salt: Buffer;
  wrapped: Buffer;
  usedFromMs: number;
}

/** Oldest first. */
export async function readRows(tx: Tx): Promise<RingRow[]> {
  return (await tx.query<RingRow>(selectRows)).rows;
}

const selectRows = {
  name: 'select-key-ring',
  text: 'select version, salt, wrapped, used_from as "usedFromMs" from key_ring order by version',
};

/**
 * Every change after the first insert holds this lock until its commit: a rotation and a change of the secret exclude each
 * other.
 */
export async function lockRing(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.keyRing]);
}

/** Does nothing if another node was first. */
export async function insertRow(tx: Tx, { version, salt, wrapped, usedFromMs }: RingRow): Promise<void> {
  await tx.query(
    'insert into key_ring (version, salt, wrapped, used_from) values ($1, $2, $3, $4) on conflict (version) do nothing',
    [version, salt, wrapped, toTimestamp(usedFromMs)],
  );
}

export async function rewrapRow(tx: Tx, { version, salt, wrapped }: RingRow): Promise<void> {
  await tx.query('update key_ring set salt = $2, wrapped = $3 where version = $1', [version, salt, wrapped]);
}

export async function wrapRow(
  { version, key, usedFromMs }: { version: number; key: Buffer; usedFromMs: number },
  secret: string,
): Promise<RingRow> {
  const salt = randomBytes(16);
  const wrapped = sealWith(await stretchSecret(secret, salt), key, contextOf(version));
  return { version, salt, wrapped, usedFromMs };
}

/** The root key, or undefined if this secret does not open it. */
export async function unwrapRow({ version, salt, wrapped }: RingRow, secret: string): Promise<Buffer | undefined> {
  const key = await stretchSecret(secret, salt);
  try {
    return openSealed(key, wrapped, contextOf(version));
  } catch {
    return undefined;
  }
}

function contextOf(version: number): string {
  return `ring:${version}`;
}

/** The cost of stretching. Rows and backups that were made with it are opened with it. */
export const stretchCost = { N: 16_384, r: 8, p: 1 } as const;

/** A person may have chosen the secret, so scrypt stretches it. It runs in the thread pool: a running node does this. */
export function stretchSecret(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret.normalize('NFC'), salt, 32, stretchCost, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
