import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { StartError } from '../platform/errors.ts';
import type { Migration } from '../platform/migration-files.ts';
import { type BackupEnd, type BackupHeader, createSeal, endOfTable, format, sameHex } from './backup-file.ts';
import { type ByteReader, CutOff, createByteReader } from './byte-reader.ts';
import type { StoredTable } from './stored-tables.ts';

export interface ReadOptions {
  path: string;
  /** The master secret, and the one before it if there is one. */
  secrets: string[];
  /** Those of this version: the tables must be the same. */
  migrations: Migration[];
  version: string;
  /** Called for each table in turn. It must read all rows. */
  onTable: (table: StoredTable, rows: AsyncGenerator<Buffer>) => Promise<void>;
  /** Called before the first table. */
  onHeader?: (header: BackupHeader) => Promise<void>;
}

export interface ReadBackup {
  header: BackupHeader;
  rows: number;
  seal: string;
}

const longestHeader = 4_000_000;
const longestEnd = 1000;

/**
 * Reads a backup from its beginning to its end. It rejects with a sentence for the operator if the file is no backup of
 * this version, or is not as it was written.
 */
export async function readBackup(options: ReadOptions): Promise<ReadBackup> {
  const { path } = options;
  const size = await sizeOf(path);
  const file = createReadStream(path, { highWaterMark: 262_144 });
  const gunzip = createGunzip({ chunkSize: 262_144 });
  file.on('error', (error) => gunzip.destroy(error));
  const bytes = createByteReader(file.pipe(gunzip));
  try {
    const read = await readAll(bytes, options);
    // Bytes behind the end of what was compressed are no part of it.
    if (!(await bytes.isAtEnd()) || gunzip.bytesWritten !== size) throw damaged(path);
    return read;
  } catch (error) {
    throw isOfTheFile(error) ? damaged(path) : error;
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

async function readAll(bytes: ByteReader, options: ReadOptions): Promise<ReadBackup> {
  const { path, onTable } = options;
  const line = await bytes.readLine(longestHeader).catch((error: unknown) => {
    throw isOfTheFile(error) ? notABackup(path) : error;
  });
  const header = line && readHeader(line);
  if (line === undefined || header === undefined) throw notABackup(path);
  refuseOther(header, options);
  const { seal } = await openSeal(header, options);
  seal.update(line);
  await options.onHeader?.(header);
  for (const table of header.tables) {
    await onTable(table, sealing(bytes.readTable()));
    seal.update(endOfTable);
  }
  const end = readEnd(await bytes.readLine(longestEnd));
  if (end === undefined || !sameHex(end.seal, seal.digest('hex'))) throw damaged(path);
  return { header, rows: end.rows, seal: end.seal };

  async function* sealing(rows: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    for await (const block of rows) {
      seal.update(block);
      yield block;
    }
  }
}

/** The whole of it is trusted only when the seal is found right. */
function readHeader(line: Buffer): BackupHeader | undefined {
  const header = parse(line) as Partial<BackupHeader> | undefined;
  const isWhole =
    typeof header?.heliograph_backup === 'number' &&
    typeof header.version === 'string' &&
    typeof header.salt === 'string' &&
    typeof header.secret_check === 'string' &&
    Array.isArray(header.migrations) &&
    Array.isArray(header.tables);
  return isWhole ? (header as BackupHeader) : undefined;
}

function readEnd(line: Buffer | undefined): BackupEnd | undefined {
  const end = line && (parse(line) as Partial<BackupEnd> | undefined);
  return end?.end === true && typeof end.seal === 'string' ? (end as BackupEnd) : undefined;
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) ?? undefined;
  } catch {
    return undefined;
  }
}

function refuseOther(header: BackupHeader, { path, migrations, version }: ReadOptions): void {
  const isSame =
    header.migrations.length === migrations.length &&
    header.migrations.every((each, index) => each?.checksum === migrations[index]?.checksum);
  if (header.heliograph_backup === format && isSame) return;
  throw new StartError(
    `${path} was made by Heliograph ${header.version}, whose tables differ from those of this version (${version}).\n` +
      `Restore it with Heliograph ${header.version}. Then start this version, which changes the tables.`,
  );
}

async function openSeal({ salt, secret_check: expected }: BackupHeader, { path, secrets }: ReadOptions) {
  for (const secret of secrets) {
    const made = await createSeal(secret, Buffer.from(salt, 'hex'));
    if (sameHex(made.check, expected)) return made;
  }
  throw new StartError(
    `HELIOGRAPH_SECRET is not the secret that ${path} was made with.\n` +
      'In the sandbox that secret is in the file `secret` of the data folder from which the backup was made.\n' +
      'Set HELIOGRAPH_SECRET to it, or put that file into the data folder.',
  );
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new StartError(`There is no file ${path}.`) : error;
  });
  if (!found.isFile()) throw new StartError(`${path} is not a file.`);
  return found.size;
}

/** Errors of zlib begin with Z_. */
function isOfTheFile(error: unknown): boolean {
  return error instanceof CutOff || String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}

function notABackup(path: string): StartError {
  return new StartError(`${path} is not a backup of Heliograph, or it is damaged at its beginning.`);
}

function damaged(path: string): StartError {
  return new StartError(`${path} is damaged: it was cut off or altered. Nothing was restored. Use another backup.`);
}
