import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BackupLabel } from '../../src/backup/backup-file.ts';
import { createBackupKey } from '../../src/backup/backup-key.ts';
import { createOldSeal } from '../../src/backup/old-backup.ts';
import { openChunks, sealChunks } from '../../src/backup/sealed-chunks.ts';
import { runRestore } from '../../src/commands/restore-command.ts';
import type { Tx } from '../../src/platform/database/database.ts';
import type { TestApp } from './app.ts';
import type { TestDatabase } from './database.ts';
import { makeFolder } from './process.ts';

let backups = 0;

export function backupPath(): string {
  return join(makeFolder('backup'), `${++backups}.backup`);
}

/** `npm run restore` into a database that no service uses. Resolves with what it prints at its end. */
export function restore(app: TestApp, into: TestDatabase, ...args: string[]): Promise<string> {
  return runRestore(args, {
    config: app.config,
    clock: app.clock,
    say: () => {},
    interrupted: new AbortController().signal,
    openStore: async () => into,
  });
}

/** The rows of each table, as text, in an order that is the same in every database. */
export async function readTables(tx: Tx): Promise<Record<string, string[]>> {
  const { rows: tables } = await tx.query<{ name: string }>(
    `select c.relname::text as name from pg_class c where c.relnamespace = 'public'::regnamespace
     and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const read: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await tx.query<{ row: string }>(`select t::text as row from "${name}" t order by 1`);
    read[name] = rows.map(({ row }) => row);
  }
  return read;
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function joined(blocks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const block of blocks) read.push(block);
  return Buffer.concat(read);
}

/** A backup as its label and what is encrypted behind it. */
export interface OpenedFile {
  label: BackupLabel;
  text: string;
}

export async function openBackupFile(path: string, secret: string): Promise<OpenedFile> {
  const bytes = readFileSync(path);
  const line = bytes.subarray(0, bytes.indexOf('\n') + 1);
  const label = JSON.parse(line.toString()) as BackupLabel;
  const key = await createBackupKey(secret, Buffer.from(label.kdf.salt, 'hex'));
  const compressed = await joined(openChunks(key.chunkKey(line), only(bytes.subarray(line.length))));
  return { label, text: gunzipSync(compressed).toString('latin1') };
}

/** Encrypts a text under a label, as only who has the secret can. */
export async function writeBackupFile(path: string, { label, text }: OpenedFile, secret: string): Promise<void> {
  const line = Buffer.from(`${JSON.stringify(label)}\n`);
  const key = await createBackupKey(secret, Buffer.from(label.kdf.salt, 'hex'));
  const compressed = gzipSync(Buffer.from(text, 'latin1'));
  writeFileSync(path, Buffer.concat([line, await joined(sealChunks(key.chunkKey(line), only(compressed)))]));
}

/** The same backup as versions wrote it that did not encrypt. */
export async function writeOldBackup(path: string, { text }: OpenedFile, secret: string): Promise<void> {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const salt = Buffer.alloc(16, 5);
  const { seal, check } = await createOldSeal(secret, salt);
  const header = { heliograph_backup: 1, ...JSON.parse(first), salt: salt.toString('hex'), secret_check: check };
  const end = JSON.parse(lines.pop() ?? '') as object;
  const body = Buffer.from([JSON.stringify(header), ...lines, ''].join('\n'), 'latin1');
  const last = { ...end, seal: seal.update(body).digest('hex') };
  writeFileSync(path, gzipSync(Buffer.concat([body, Buffer.from(`${JSON.stringify(last)}\n`)])));
}
