import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import type { Migration } from '../platform/database/migration-files.ts';
import { StartError } from '../platform/errors.ts';
import { type BackupEnd, type BackupHeader, endOfTable, type Proof, parseLine } from './backup-file.ts';
import { type ByteReader, CutOff, createByteReader } from './byte-reader.ts';
import { createOldProof } from './old-backup.ts';
import { isWord, notABackup, type OpenOptions, openBackup } from './open-backup.ts';
import { Altered } from './sealed-chunks.ts';
import type { StoredTable } from './stored-tables.ts';

export interface ReadOptions extends OpenOptions {
  /** The migrations of this version. The backup must have the same, so that the tables are the same. */
  migrations: Migration[];
  /** Called for each table in turn. It must read all rows. */
  onTable: (table: StoredTable, rows: AsyncGenerator<Buffer>) => Promise<void>;
  /** Called before the first table. */
  onHeader?: (header: BackupHeader) => Promise<void>;
}

export interface ReadBackup {
  header: BackupHeader;
  rows: number;
  /** Unique for each file. */
  id: string;
}

const longestHeader = 4_000_000;
const longestEnd = 1000;
const blockBytes = 262_144;

/**
 * Reads a backup from its beginning to its end. It rejects with a sentence for the operator if the file is no backup of
 * this version, or is not as it was written.
 */
export async function readBackup(options: ReadOptions): Promise<ReadBackup> {
  const opened = await openBackup(options);
  if (opened === undefined) return readOldBackup(options);
  // No further proof: each chunk was checked when it was decrypted.
  const proof: Proof = { begin: async () => {}, take: () => {}, finish: () => opened.salt };
  return unzipping(opened.compressed, options, (bytes) => readAll(bytes, options, proof));
}

/** Reads a backup of the first format, which is not encrypted. */
async function readOldBackup(options: ReadOptions): Promise<ReadBackup> {
  const { path } = options;
  const { size } = await stat(path);
  return unzipping(createReadStream(path, { highWaterMark: blockBytes }), options, async (bytes, gunzip) => {
    const read = await readAll(bytes, options, createOldProof(options));
    // Refuse bytes after the end of the compressed data: gunzip would ignore them.
    if (gunzip.bytesWritten !== size) throw new Altered();
    return read;
  });
}

async function unzipping(
  compressed: AsyncIterable<Buffer>,
  { path }: ReadOptions,
  read: (bytes: ByteReader, gunzip: Gunzip) => Promise<ReadBackup>,
): Promise<ReadBackup> {
  const gunzip = createGunzip({ chunkSize: blockBytes });
  const source = Readable.from(compressed);
  // An error of the source also ends its readers.
  pipeline(source, gunzip).catch(() => {});
  try {
    return await read(createByteReader(gunzip), gunzip);
  } catch (error) {
    throw isOfTheFile(error) ? damaged(path) : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function readAll(bytes: ByteReader, options: ReadOptions, proof: Proof): Promise<ReadBackup> {
  const { path, onTable } = options;
  const line = await bytes.readLine(longestHeader).catch((error: unknown) => {
    throw isOfZlib(error) ? notABackup(path) : error;
  });
  const header = line && readHeader(line);
  if (line === undefined || header === undefined) throw notABackup(path);
  refuseOther(header, options);
  await proof.begin(line, header);
  await options.onHeader?.(header);
  for (const table of header.tables) {
    await onTable(table, taking(bytes.readTable(), proof));
    proof.take(endOfTable);
  }
  const end = readEnd(await bytes.readLine(longestEnd));
  const id = end && proof.finish(end);
  if (end === undefined || id === undefined || !(await bytes.isAtEnd())) throw new Altered();
  return { header, rows: end.rows, id };
}

async function* taking(rows: AsyncGenerator<Buffer>, proof: Proof): AsyncGenerator<Buffer> {
  for await (const block of rows) {
    proof.take(block);
    yield block;
  }
}

function readHeader(line: Buffer): BackupHeader | undefined {
  const header = parseLine(line) as Partial<BackupHeader> | undefined;
  const isWhole =
    isWord(header?.made_at) &&
    isWord(header?.version) &&
    Array.isArray(header?.migrations) &&
    Array.isArray(header.tables);
  return isWhole ? (header as BackupHeader) : undefined;
}

function readEnd(line: Buffer | undefined): BackupEnd | undefined {
  const end = line && (parseLine(line) as Partial<BackupEnd> | undefined);
  return end?.end === true && typeof end.rows === 'number' ? (end as BackupEnd) : undefined;
}

function refuseOther(header: BackupHeader, { path, migrations, version }: ReadOptions): void {
  const isSame =
    header.migrations.length === migrations.length &&
    header.migrations.every((each, index) => each?.checksum === migrations[index]?.checksum);
  if (isSame) return;
  throw new StartError(
    `${path} was made by Heliograph ${header.version}, whose tables differ from those of this version (${version}).\n` +
      `Restore it with Heliograph ${header.version}. Then start this version, which changes the tables.`,
  );
}

function isOfTheFile(error: unknown): boolean {
  return error instanceof CutOff || error instanceof Altered || isOfZlib(error);
}

/** Errors of zlib begin with Z_. */
function isOfZlib(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}

function damaged(path: string): StartError {
  return new StartError(`${path} is damaged: it was cut off or altered. Nothing was restored. Use another backup.`);
}
