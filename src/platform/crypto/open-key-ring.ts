import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Clock, minuteMs } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { StartError } from '../errors.ts';
import type { Log } from '../log.ts';
import { insertRow, lockRing, type RingRow, readRows, rewrapRow, unwrapRow, wrapRow } from './key-ring-store.ts';
import { createKeyRing, type KeyRing, type RingVersion } from './keys.ts';
import { readOrMakePrivateFile } from './private-file.ts';
import { randomBase62, randomBytes } from './random.ts';

/** A version with its row: a thread that finds the same row need not unwrap the key again. */
export interface OpenedVersion extends RingRow, RingVersion {}

/** The ring of a process that keeps running: it can learn of new versions. */
export interface OpenKeyRing extends KeyRing {
  /** For another thread of this process. */
  opened(): readonly OpenedVersion[];
  /** Reads versions that were added since. Rejects if the secret does not open one of them. */
  reread(): Promise<void>;
  /** Rereads until the returned function is called. A node that cannot reread for 40 s stops using the ring. */
  follow(log: Log, everyMs?: number): () => Promise<void>;
}

export interface KeyRingOptions {
  database: Database;
  clock: Clock;
  secret: string;
  previousSecret?: string | undefined;
  /** Versions that this process has opened before: to stretch the secret again for each would take 60 ms. */
  opened?: readonly OpenedVersion[];
}

/** From a rotation to the first use of its version. Longer than `outdatedAfterMs` plus the difference of the clocks. */
const leadMs = minuteMs;
const rereadEveryMs = 10_000;
const retryAfterMs = 1000;
const outdatedAfterMs = 40_000;

/** Opens the ring, or creates it on the first start. Nodes that start together need no lock: the first insert wins. */
export async function openKeyRing(options: KeyRingOptions): Promise<OpenKeyRing> {
  const { database, clock, secret } = options;
  let ring = await readRing(options);
  let currentUntilMs = Number.POSITIVE_INFINITY;

  async function reread(): Promise<void> {
    const rows = await readRows(database);
    const added = rows.filter(({ version }) => version > (ring[0]?.version ?? 0));
    const versions = await Promise.all(added.map((row) => toVersion(row, secret)));
    ring = [...versions.reverse(), ...ring];
  }

  /** A loop instead of an interval: a slow database gets one read at a time. */
  function follow(log: Log, everyMs = rereadEveryMs): () => Promise<void> {
    const stopping = new AbortController();
    currentUntilMs = clock.steadyMs() + outdatedAfterMs;
    const tryReread = async () => {
      const beganMs = clock.steadyMs();
      try {
        await reread();
        currentUntilMs = beganMs + outdatedAfterMs;
        return everyMs;
      } catch (error) {
        const level = error instanceof StartError ? 'error' : 'debug';
        log[level]({ reason: (error as Error).message }, 'the key ring could not be read; it is tried again');
        return Math.min(everyMs, retryAfterMs);
      }
    };
    const loop = async () => {
      while (!stopping.signal.aborted) {
        const waitMs = await tryReread();
        await setTimeout(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
    };
    const looping = loop();
    return () => {
      stopping.abort();
      return looping;
    };
  }

  const isCurrent = () => clock.steadyMs() <= currentUntilMs;
  return Object.assign(
    createKeyRing(clock, () => ring, isCurrent),
    { opened: () => ring, reread, follow },
  );
}

/** Newest first. Wraps all versions again if only the previous secret opens them. */
async function readRing(options: KeyRingOptions): Promise<OpenedVersion[]> {
  const { database, clock, secret, previousSecret = secret, opened = [] } = options;
  let rows = await readRows(database);
  if (rows.length === 0) {
    const first = { version: 1, key: randomBytes(32), usedFromMs: clock.nowMs() };
    const wrapped = await wrapRow(first, secret);
    await insertRow(database, wrapped);
    rows = await readRows(database);
    const [row] = rows;
    // Our own insert was the first one, so its key is known.
    if (rows.length === 1 && row?.salt.equals(wrapped.salt)) return [{ ...row, key: first.key }];
  }
  const rewrapped: RingRow[] = [];
  const ring: OpenedVersion[] = [];
  for (const row of rows) {
    const known = opened.find(({ wrapped }) => row.wrapped.equals(wrapped));
    const key = known === undefined ? await unwrapRow(row, secret) : Buffer.from(known.key);
    const version = key === undefined ? await toVersion(row, previousSecret) : { ...row, key };
    if (key === undefined) rewrapped.push(await wrapRow(version, secret));
    ring.unshift(version);
  }
  if (rewrapped.length > 0 && !(await replaceRows(database, rows, rewrapped))) return readRing(options);
  return ring;
}

/** All rows or none: no single secret opens a half rewrapped ring. False if the ring changed since it was read. */
function replaceRows(database: Database, read: RingRow[], rewrapped: RingRow[]): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockRing(tx);
    if (!isSame(await readRows(tx), read)) return false;
    for (const row of rewrapped) await rewrapRow(tx, row);
    return true;
  });
}

export interface Rotation {
  version: number;
  usedFromMs: number;
  /** False if the newest version is not used yet: another one would gain nothing. */
  isNew: boolean;
}

/** Adds a version with a new root key. Every node knows it before any node uses it. */
export async function rotateKeyRing({ database, clock, secret }: KeyRingOptions): Promise<Rotation> {
  const rows = await readRows(database);
  const newest = rows.at(-1);
  if (newest === undefined) throw new StartError('There is no key ring yet. Start the service once.');
  await toVersion(newest, secret);
  const next = { version: newest.version + 1, key: randomBytes(32), usedFromMs: clock.nowMs() + leadMs };
  const row = await wrapRow(next, secret);
  return database.transaction(async (tx) => {
    await lockRing(tx);
    const found = await readRows(tx);
    const last = found.at(-1) ?? newest;
    if (last.usedFromMs > clock.nowMs()) return toRotation(last, false);
    // Else this version would be wrapped by the old secret and the others by the new one.
    if (!isSame(found, rows)) throw new StartError('The key ring changed meanwhile. Run the command again.');
    await insertRow(tx, row);
    return toRotation(next, true);
  });
}

function toRotation({ version, usedFromMs }: Pick<RingRow, 'version' | 'usedFromMs'>, isNew: boolean): Rotation {
  return { version, usedFromMs, isNew };
}

function isSame(a: RingRow[], b: RingRow[]): boolean {
  return a.length === b.length && a.every(({ wrapped }, index) => b[index]?.wrapped.equals(wrapped));
}

async function toVersion(row: RingRow, secret: string): Promise<OpenedVersion> {
  const key = await unwrapRow(row, secret);
  if (key === undefined) throw new StartError(wrongSecret);
  return { ...row, key };
}

const wrongSecret =
  'HELIOGRAPH_SECRET does not open the key ring of this database.\n' +
  'Set it to the secret that this database was created with. To change the secret, also set HELIOGRAPH_SECRET_PREVIOUS to the old one.\n' +
  'In the sandbox the secret is in the file `secret` of the data folder. Keep that file together with the database.\n' +
  'To start in production beside a sandbox, give it a data folder of its own: HELIOGRAPH_DATA_DIR.';

/** The sandbox's master secret, generated on the first start and kept beside its database. */
export function readOrMakeSecret(dataDir: string): Promise<string> {
  return readOrMakePrivateFile(join(dataDir, 'secret'), () => randomBase62(43));
}
