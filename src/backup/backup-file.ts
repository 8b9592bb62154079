import type { StoredTable } from './stored-tables.ts';

/**
 * A backup is a line of JSON, which anyone can read, and behind it chunks that are encrypted with a key from the master
 * secret. Together the chunks are a gzip file of lines: a header in JSON, the rows of each table as Postgres's COPY writes
 * them, each table ended by a line with a backslash and a dot, and a last line in JSON.
 */
export const format = 2;

/** The line that anyone can read: what a restore has to know before it can decrypt the rest. */
export interface BackupLabel {
  heliograph_backup: number;
  made_at: string;
  /** The version of Heliograph that made the backup. */
  version: string;
  environment: string;
  cipher: string;
  /** Size of each chunk but the last, before encryption. */
  chunk_bytes: number;
  /** How the key is made from the master secret. */
  kdf: { name: string; N: number; r: number; p: number; salt: string };
  /** Shows whether the secret is wrong or the file was altered. */
  secret_check: string;
}

export interface BackupHeader {
  made_at: string;
  version: string;
  migrations: { name: string; checksum: string }[];
  /** The time spans that have a partition, by table. */
  partitions: Record<string, number[]>;
  sequences: Record<string, number>;
  /** The tables in the order of the file. */
  tables: StoredTable[];
}

export interface BackupEnd {
  end: true;
  rows: number;
}

/** Proves that a file was not altered, where encryption does not prove it. */
export interface Proof {
  /** Rejects with a sentence for the operator if the secret is another. */
  begin(line: Buffer, header: BackupHeader): Promise<void>;
  take(bytes: Buffer): void;
  /** The file's id, or undefined if it was altered. */
  finish(end: BackupEnd): string | undefined;
}

/** A backslash in a row is always doubled, so no row looks like it. */
export const endOfTable = Buffer.from('\\.\n');

export function asLine(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

export function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) ?? undefined;
  } catch {
    return undefined;
  }
}

/** For `copy`: the table with its columns. */
export function quoted({ name, columns }: StoredTable): { table: string; columns: string } {
  return { table: `"${name}"`, columns: columns.map((column) => `"${column}"`).join(', ') };
}
