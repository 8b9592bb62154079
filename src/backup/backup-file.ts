import { createHmac, type Hmac } from 'node:crypto';
import { stretchSecret } from '../platform/key-ring-store.ts';
import { sameBytes } from '../platform/secrets.ts';
import type { StoredTable } from './stored-tables.ts';

/**
 * A backup is a gzip file of lines: a header in JSON, the rows of each table as Postgres's COPY writes them, each table
 * ended by a line with a backslash and a dot, and a last line in JSON with the seal of all that comes before it.
 */
export const format = 1;

export interface BackupHeader {
  heliograph_backup: number;
  made_at: string;
  /** Of the program that made it. */
  version: string;
  environment: string;
  salt: string;
  /** Tells a wrong secret from an altered file. */
  secret_check: string;
  migrations: { name: string; checksum: string }[];
  /** Which spans of time have a partition, by table. */
  partitions: Record<string, number[]>;
  sequences: Record<string, number>;
  /** In the order of the file. */
  tables: StoredTable[];
}

export interface BackupEnd {
  end: true;
  rows: number;
  seal: string;
}

/** A backslash in a row is always doubled, so no row looks like it. */
export const endOfTable = Buffer.from('\\.\n');

/**
 * The seal of a backup is made with the master secret: a stranger who can write where backups are kept could put an
 * operator into one, but cannot seal it again.
 */
export async function createSeal(secret: string, salt: Buffer): Promise<{ seal: Hmac; check: string }> {
  const key = await stretchSecret(secret, salt);
  const keyFor = (purpose: string) => createHmac('sha256', key).update(purpose).digest();
  return { seal: createHmac('sha256', keyFor('backup')), check: keyFor('backup-check').toString('hex') };
}

export function sameHex(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return first.length === 32 && second.length === 32 && sameBytes(first, second);
}

/** For `copy`: the table with its columns. */
export function quoted({ name, columns }: StoredTable): { table: string; columns: string } {
  return { table: `"${name}"`, columns: columns.map((column) => `"${column}"`).join(', ') };
}
