import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { type Clock, minuteMs, toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { advisoryLocks } from '../platform/database/advisory-locks.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { patiently } from '../platform/work/patiently.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';

export type SigningAlg = 'ES256' | 'RS256';

export interface SigningKey {
  kid: string;
  alg: SigningAlg;
  publicKey: KeyObject;
  publicJwk: JWK;
  privateKey: KeyObject;
  signsFromMs: number;
  verifiesUntilMs: number | null;
}

export interface SigningKeys {
  /** The keys this node has loaded; undefined before the first load and after `forget`. */
  loaded(): SigningKey[] | undefined;
  load(): Promise<SigningKey[]>;
  /** Called by the change feed: the next use reads the database. */
  forget(): void;
  /** Creates a key of the configured algorithm if there is none to sign with. */
  prepare(): Promise<void>;
  /**
   * Adds a new key, which signs after `leadMs`, so that clients can fetch it first. Old keys verify until their last
   * token expires. With `withdraw` they end at once, and so does every token they signed.
   */
  rotate(options: { leadMs: number; withdraw: boolean }): Promise<void>;
}

/** The change feed's id for a change of keys. No application has this id. */
export const signingKeysChange = 'signing-keys';

const makePair = promisify(generateKeyPair);

export function createSigningKeys(options: {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  alg: SigningAlg;
  /** How long a token or a proof is valid, whichever is longer: these keys sign both. */
  signedForMs: number;
  /** Runs a change. Resolves when every node has dropped its loaded keys. */
  change: <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;
}): SigningKeys {
  const { database, clock, keys, alg, signedForMs, change } = options;
  let known: SigningKey[] | undefined;
  let loading: Promise<SigningKey[]> | undefined;
  let generation = 0;

  function load(): Promise<SigningKey[]> {
    if (loading !== undefined) return loading;
    const started = read().finally(() => {
      if (loading === started) loading = undefined;
    });
    loading = started;
    return started;
  }

  async function read(): Promise<SigningKey[]> {
    const began = generation;
    const { rows } = await database.query<KeyRow>(selectKeys, [toTimestamp(clock.nowMs())]);
    const read = rows.map((row) => toKey(row, keys));
    if (began === generation) known = read;
    return read;
  }

  /** Runs in the thread pool and outside any transaction: an RSA key may take a second. */
  async function newKey(): Promise<NewKey> {
    const { privateKey, publicKey } =
      alg === 'ES256' ? await makePair('ec', { namedCurve: 'P-256' }) : await makePair('rsa', { modulusLength: 2048 });
    const publicJwk = publicKey.export({ format: 'jwk' }) as JWK;
    const kid = await calculateJwkThumbprint(publicJwk);
    const sealed = keys.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), `signing-key:${kid}`);
    return { kid, publicJwk, sealed };
  }

  async function insertKey(tx: Tx, { kid, publicJwk, sealed }: NewKey, signsFromMs: number): Promise<void> {
    await tx.query(
      'insert into signing_key (kid, alg, public_jwk, private_key, signs_from) values ($1, $2, $3, $4, $5)',
      [kid, alg, JSON.stringify(publicJwk), sealed, toTimestamp(signsFromMs)],
    );
  }

  async function hasWantedKey(tx: Tx): Promise<boolean> {
    const { rows } = await tx.query<{ alg: string }>('select alg from signing_key order by signs_from desc limit 1');
    return rows[0]?.alg === alg;
  }

  /** Lets all older keys expire with the last token or proof that they can have signed. */
  async function retireOlder(tx: Tx, newest: NewKey, signsFromMs: number): Promise<void> {
    const endMs = signsFromMs + signedForMs + minuteMs;
    await tx.query(
      'update signing_key set verifies_until = $3 where kid <> $1 and signs_from <= $2 and verifies_until is null',
      [newest.kid, toTimestamp(signsFromMs), toTimestamp(endMs)],
    );
    await tx.query('delete from signing_key where verifies_until <= $1', [toTimestamp(clock.nowMs())]);
  }

  return {
    loaded: () => known,
    load,
    forget() {
      generation++;
      known = undefined;
      // A read in progress may have begun before the change: later callers must not share it.
      loading = undefined;
    },

    async prepare() {
      if (!(await patiently(() => hasWantedKey(database)))) {
        const key = await newKey();
        // Running nodes must learn of the key before it signs anything.
        await patiently(() =>
          change(async (tx) => {
            await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.signingKeys]);
            if (await hasWantedKey(tx)) return;
            const nowMs = clock.nowMs();
            await insertKey(tx, key, nowMs);
            await retireOlder(tx, key, nowMs);
          }),
        );
      }
      await patiently(load);
    },

    async rotate({ leadMs, withdraw }) {
      const key = await newKey();
      await change(async (tx) => {
        await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.signingKeys]);
        const signsFromMs = clock.nowMs() + (withdraw ? 0 : leadMs);
        if (withdraw) await tx.query('delete from signing_key');
        await insertKey(tx, key, signsFromMs);
        await retireOlder(tx, key, signsFromMs);
      });
    },
  };
}

interface NewKey {
  kid: string;
  publicJwk: JWK;
  sealed: Buffer;
}

/** Returns the current keys. Uses loaded keys only while the feed confirms that this node missed no change. */
export function currentKeys(
  signingKeys: SigningKeys,
  feed: Pick<ChangeFeed, 'isTrusted'>,
): SigningKey[] | Promise<SigningKey[]> {
  if (feed.isTrusted()) return signingKeys.loaded() ?? signingKeys.load();
  signingKeys.forget();
  return signingKeys.load();
}

/** Returns the newest key whose `signsFromMs` has passed. */
export function signingKeyAt(keys: SigningKey[], nowMs: number): SigningKey | undefined {
  return keys.find(({ signsFromMs }) => signsFromMs <= nowMs);
}

export function verifyingKey(keys: SigningKey[], kid: string, nowMs: number): SigningKey | undefined {
  return keys.find((key) => key.kid === kid && (key.verifiesUntilMs === null || key.verifiesUntilMs > nowMs));
}

interface KeyRow {
  kid: string;
  alg: SigningAlg;
  public_jwk: JWK;
  private_key: Buffer;
  signs_from: number;
  verifies_until: number | null;
}

function toKey(row: KeyRow, keys: KeyRing): SigningKey {
  const der = keys.open(row.private_key, `signing-key:${row.kid}`);
  return {
    kid: row.kid,
    alg: row.alg,
    publicJwk: { ...row.public_jwk, kid: row.kid, alg: row.alg, use: 'sig' },
    publicKey: createPublicKey({ key: row.public_jwk as import('node:crypto').JsonWebKey, format: 'jwk' }),
    privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    signsFromMs: row.signs_from,
    verifiesUntilMs: row.verifies_until,
  };
}

const selectKeys = {
  name: 'select-signing-keys',
  text: `select kid, alg, public_jwk, private_key, signs_from, verifies_until from signing_key
    where verifies_until is null or verifies_until > $1 order by signs_from desc, verifies_until desc nulls first`,
};
