import { createCipheriv, createDecipheriv, hkdfSync, scryptSync } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { toTimestamp } from './clock.ts';
import type { Database, Tx } from './database.ts';
import { StartError } from './errors.ts';
import { readOrMakePrivateFile } from './private-file.ts';
import { randomBase62, randomBytes } from './random.ts';

/** What a key is for. Each purpose has its own key, so that a hash for one purpose is useless for another. */
export type KeyPurpose =
  | 'api-key'
  | 'api-key-checksum'
  | 'client-secret'
  | 'token-checksum'
  | 'session'
  | 'link'
  | 'idempotency'
  | 'code';

/**
 * The key ring. Postgres stores its random keys, wrapped by the master secret; all other keys derive from them. So the
 * master secret can change while every stored hash and code stays valid.
 */
export interface KeyRing {
  /** The newest version, used for new rows. */
  readonly version: number;
  /** The key for a purpose in one version of the ring. A row stores the version it was written with. */
  keyFor(purpose: KeyPurpose, version?: number): Buffer;
  /** Encrypts with the newest key. `open` needs the same `context`. */
  seal(plain: Buffer, context: string): Buffer;
  open(sealed: Buffer, context: string): Buffer;
}

interface RingRow {
  version: number;
  salt: Buffer;
  wrapped: Buffer;
}

/**
 * Opens the ring, or creates it on the first start. Nodes that start together need no lock: the first insert wins, and
 * a row is rewrapped only if unchanged. The slow key derivation runs outside any transaction.
 */
export async function openKeyRing(options: {
  database: Database;
  clock: Clock;
  secret: string;
  previousSecret?: string | undefined;
}): Promise<KeyRing> {
  const { database, clock, secret, previousSecret } = options;
  let rows = await readRows(database);
  if (rows.length === 0) {
    await insertFirst(database, clock, secret);
    rows = await readRows(database);
  }
  const keys = new Map<number, Buffer>();
  const rewrapped: { before: RingRow; after: RingRow }[] = [];
  for (const row of rows) {
    let key = tryUnwrap(row, secret);
    if (key === undefined) {
      key = previousSecret === undefined ? undefined : tryUnwrap(row, previousSecret);
      if (key === undefined) throw new StartError(wrongSecret);
      rewrapped.push({ before: row, after: wrap(row.version, key, secret) });
    }
    keys.set(row.version, key);
  }
  // All rows or none: no single secret opens a half rewrapped ring.
  if (rewrapped.length > 0) await database.transaction((tx) => updateRows(tx, rewrapped));
  return createKeyRing(keys);
}

async function readRows(tx: Tx): Promise<RingRow[]> {
  return (await tx.query<RingRow>('select version, salt, wrapped from key_ring order by version')).rows;
}

async function insertFirst(tx: Tx, clock: Clock, secret: string): Promise<void> {
  const { version, salt, wrapped } = wrap(1, randomBytes(32), secret);
  await tx.query(
    `insert into key_ring (version, salt, wrapped, created_at) values ($1, $2, $3, $4)
     on conflict (version) do nothing`,
    [version, salt, wrapped, toTimestamp(clock.nowMs())],
  );
}

async function updateRows(tx: Tx, rows: { before: RingRow; after: RingRow }[]): Promise<void> {
  for (const { before, after } of rows) {
    await tx.query('update key_ring set salt = $3, wrapped = $4 where version = $1 and wrapped = $2', [
      before.version,
      before.wrapped,
      after.salt,
      after.wrapped,
    ]);
  }
}

function wrap(version: number, key: Buffer, secret: string): RingRow {
  const salt = randomBytes(16);
  return { version, salt, wrapped: seal(wrappingKey(secret, salt), key, `ring:${version}`) };
}

function tryUnwrap({ version, salt, wrapped }: RingRow, secret: string): Buffer | undefined {
  try {
    return open(wrappingKey(secret, salt), wrapped, `ring:${version}`);
  } catch {
    return undefined;
  }
}

const wrongSecret =
  'HELIOGRAPH_SECRET does not open the key ring of this database.\n' +
  'Set it to the secret that this database was created with. To change the secret, also set HELIOGRAPH_SECRET_PREVIOUS to the old one.\n' +
  'In the sandbox the secret is in the file `secret` of the data folder. Keep that file together with the database.';

export function createKeyRing(keys: Map<number, Buffer>): KeyRing {
  const version = Math.max(...keys.keys());
  const derived = new Map<string, Buffer>();

  function keyFor(purpose: string, ofVersion: number): Buffer {
    const name = `${ofVersion}:${purpose}`;
    let key = derived.get(name);
    if (key === undefined) {
      const root = keys.get(ofVersion);
      if (root === undefined) throw new Error(`the key ring has no version ${ofVersion}`);
      key = Buffer.from(hkdfSync('sha256', root, '', `heliograph:${purpose}`, 32));
      derived.set(name, key);
    }
    return key;
  }

  return {
    version,
    keyFor: (purpose, ofVersion = version) => keyFor(purpose, ofVersion),
    seal(plain, context) {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(version);
      return Buffer.concat([head, seal(keyFor('seal', version), plain, context)]);
    },
    open: (sealed, context) => open(keyFor('seal', sealed.readUInt32BE(0)), sealed.subarray(4), context),
  };
}

/** A person may have chosen the secret, so scrypt stretches it at start. */
function wrappingKey(secret: string, salt: Buffer): Buffer {
  return scryptSync(secret.normalize('NFC'), salt, 32, { N: 16_384, r: 8, p: 1 });
}

const tagLength = { authTagLength: 16 };

function seal(key: Buffer, plain: Buffer, context: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv, tagLength).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

function open(key: Buffer, sealed: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), tagLength).setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

/** The sandbox's master secret, generated on the first start and kept beside its database. */
export function readOrMakeSecret(dataDir: string): Promise<string> {
  return readOrMakePrivateFile(join(dataDir, 'secret'), () => randomBase62(43));
}
