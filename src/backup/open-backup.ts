import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { StartError } from '../platform/errors.ts';
import { type BackupLabel, format, parseLine } from './backup-file.ts';
import { createBackupKey, describeKey, findKey } from './backup-key.ts';
import { openChunks } from './sealed-chunks.ts';

export interface OpenOptions {
  path: string;
  /** The master secret and the previous one, as far as this installation has them. */
  secrets: string[];
  version: string;
}

/** The compressed bytes. `salt` is unique for each file. */
export interface OpenedBackup {
  compressed: AsyncIterable<Buffer>;
  salt: string;
}

const longestLabel = 4096;
const blockBytes = 262_144;
const newLine = 0x0a;

/** Decrypts a backup with one of the secrets. Undefined for a backup of the first format, which was not encrypted. */
export async function openBackup(options: OpenOptions): Promise<OpenedBackup | undefined> {
  const { path, secrets } = options;
  const line = await readLabelLine(path);
  if (line === undefined) return undefined;
  const label = readLabel(line, options);
  const salt = Buffer.from(label.kdf.salt, 'hex');
  const key = await findKey(secrets, label.secret_check, (secret) => createBackupKey(secret, salt));
  if (key === undefined) throw wrongSecret(options, label);
  const sealed: AsyncIterable<Buffer> = createReadStream(path, { start: line.length, highWaterMark: blockBytes });
  return { compressed: openChunks(key.chunkKey(line), sealed), salt: label.kdf.salt };
}

/** Undefined for a gzip file. */
async function readLabelLine(path: string): Promise<Buffer | undefined> {
  await requireFile(path);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(longestLabel), 0, longestLabel, 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return undefined;
    const end = bytes.indexOf(newLine);
    if (end < 0) throw notABackup(path);
    return bytes.subarray(0, end + 1);
  } finally {
    await file.close();
  }
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new StartError(`There is no file ${path}.`) : error;
  });
  if (!found.isFile()) throw new StartError(`${path} is not a file.`);
}

/** Nothing in it is trusted: the chunks can be decrypted only if it is as it was written. */
function readLabel(line: Buffer, { path, version }: OpenOptions): BackupLabel {
  const label = parseLine(line) as Partial<BackupLabel> | undefined;
  const { made_at: madeAt, version: by, environment } = label ?? {};
  if (typeof label?.heliograph_backup !== 'number' || ![madeAt, by, environment].every(isWord)) throw notABackup(path);
  const { kdf, cipher, chunk_bytes: bytes, secret_check: check } = label;
  const salt = typeof kdf?.salt === 'string' ? kdf.salt : '';
  const isKnown = isDeepStrictEqual({ cipher, chunk_bytes: bytes, kdf }, describeKey(Buffer.from(salt, 'hex')));
  if (label.heliograph_backup === format && isKnown && typeof check === 'string') return label as BackupLabel;
  throw new StartError(
    `${path} was made by Heliograph ${label.version}, in a way that this version (${version}) does not know.\n` +
      `Restore it with Heliograph ${label.version}, if the file is as it was written.`,
  );
}

/** A terminal will show it, and anyone can have written it. */
export function isWord(text: unknown): boolean {
  return typeof text === 'string' && /^[\w.:+-]{1,40}$/.test(text);
}

function wrongSecret({ path, secrets }: OpenOptions, { made_at: madeAt, environment }: BackupLabel): StartError {
  return new StartError(
    [
      `${path} is encrypted with the secret of the service that it was made from (${environment}, ${madeAt}).`,
      secrets.length === 0 ? 'There is no secret here.' : 'HELIOGRAPH_SECRET is not the secret that it was made with.',
      ...howToGive,
    ].join('\n'),
  );
}

export const howToGive = [
  'Set HELIOGRAPH_SECRET to the value that it had there. In a sandbox without that setting the secret is in the file',
  '`secret` of the data folder from which the backup was made: put that file into the data folder here.',
];

export function notABackup(path: string): StartError {
  return new StartError(`${path} is not a backup of Heliograph, or it is damaged at its beginning.`);
}
