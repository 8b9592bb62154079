import { type Clock, dayMs, toTimestamp } from '../clock.ts';
import type { KeyRing } from '../crypto/keys.ts';
import { keyedHash, sameBytes } from '../crypto/secrets.ts';
import { ApiError, invalidField } from '../errors.ts';
import { pieceRows } from '../work/maintenance.ts';
import type { Database, Tx } from './database.ts';
import { createReadBatcher } from './read-batcher.ts';

/** An answer as it was sent. */
export interface KeptAnswer {
  status: number;
  body: string;
  location: string | null;
}

/** An answer to store in the transaction of the work it belongs to. */
export interface AnswerToKeep extends Omit<KeptAnswer, 'body'> {
  correlationId: string;
  keptForMs: number;
  /**
   * Usually one row. During a rotation of the key ring one per version, because other nodes may search by either version.
   */
  rows: AnswerRow[];
}

interface AnswerRow {
  /** A hash of application, method, path and key. */
  hash: Buffer;
  payloadHash: Buffer;
  /** The encrypted body: it may hold a number, a text or a proof. */
  sealedBody: Buffer;
}

type StoredAnswer = Omit<KeptAnswer, 'body'> & AnswerRow;

export interface IdempotentRequest {
  key: string;
  applicationId: string;
  method: string;
  path: string;
  payload: unknown;
  correlationId: string;
  /** A day by default. */
  keptForMs?: number;
}

export interface Idempotency {
  /**
   * Does the work once per key. `work` gets a function that turns its answer into a row, which it writes in its own
   * transaction: a crash leaves both or neither.
   */
  once(
    request: IdempotentRequest,
    work: (keep: (answer: KeptAnswer) => AnswerToKeep | undefined) => Promise<KeptAnswer>,
  ): Promise<KeptAnswer & { replayed: boolean }>;
}

/** Upper limit of `keptForMs`: rows of older versions of the key ring need not be searched. */
const longestKeptMs = dayMs;

export function createIdempotency(database: Database, clock: Clock, keys: KeyRing): Idempotency {
  const inFlight = new Set<string>();
  const find = createReadBatcher((hashes: Buffer[]) => findAnswers(database, hashes, clock.nowMs()));

  const hashOf = (text: string, version: number) => keyedHash(keys.keyFor('idempotency', version), text);

  async function replay(name: string, payload: string): Promise<(KeptAnswer & { replayed: true }) | undefined> {
    const versions = keys.versionsSince(clock.nowMs() - longestKeptMs);
    const found = await Promise.all(versions.map((version) => find(hashOf(name, version))));
    const place = found.findIndex((row) => row !== undefined);
    const kept = found[place];
    if (kept === undefined) return undefined;
    if (!sameBytes(kept.payloadHash, hashOf(payload, versions[place] ?? 0))) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used with another payload. Use a new key.',
      );
    }
    return { status: kept.status, body: openBody(keys, kept), location: kept.location, replayed: true };
  }

  return {
    async once({ key, applicationId, method, path, payload, correlationId, keptForMs = longestKeptMs }, work) {
      const name = JSON.stringify([applicationId, method, path, key]);
      const canonical = canonicalJson(payload);
      if (inFlight.has(name)) throw inProgress();
      inFlight.add(name);
      try {
        const kept = await replay(name, canonical);
        if (kept !== undefined) return kept;
        const answer = await work(({ status, body, location }) => {
          const rows = keys.versionsSince(clock.nowMs()).map((version) => {
            const hash = hashOf(name, version);
            const sealedBody = keys.seal(Buffer.from(body), sealContext(hash));
            return { hash, payloadHash: hashOf(canonical, version), sealedBody };
          });
          return { status, location, correlationId, keptForMs, rows };
        });
        return { ...answer, replayed: false };
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error;
        // Another node committed the same key first: return its answer.
        const kept = await replay(name, canonical);
        if (kept === undefined) throw inProgress();
        return kept;
      } finally {
        inFlight.delete(name);
      }
    },
  };
}

function inProgress(): ApiError {
  const message = 'A request with this Idempotency-Key is in progress. Try again shortly.';
  return new ApiError('IDEMPOTENCY_IN_PROGRESS', message);
}

const deepest = 64;

/** Equal for equal JSON values: property order does not matter, and some clients change it on a retry. */
export function canonicalJson(value: unknown, depth = 0): string {
  // Refuse deep nesting as the caller's error, before it overflows the stack.
  if (depth > deepest) throw invalidField('body', `must not be nested more than ${deepest} deep`);
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const properties = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${properties.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depth + 1)}`).join(',')}}`;
}

/** Another request holds the key. Its SQLSTATE 23505 makes the batch split, so that only this row fails. */
class KeyTaken extends Error {
  readonly code = '23505';
}

/** Writes a batch's answers. A stored row with the same correlation id means that the batch runs a second time. */
export async function insertAnswers(tx: Tx, answers: AnswerToKeep[], nowMs: number): Promise<void> {
  if (answers.length === 0) return;
  const rows = answers.flatMap(({ rows, ...answer }) => rows.map((row) => ({ ...answer, ...row })));
  const { count } = await tx.query(insertStatement, [
    rows.map(({ hash }) => hash),
    rows.map(({ payloadHash }) => payloadHash),
    rows.map(({ correlationId }) => correlationId),
    rows.map(({ status }) => status),
    rows.map(({ sealedBody }) => sealedBody),
    rows.map(({ location }) => location),
    rows.map(({ keptForMs }) => toTimestamp(nowMs + keptForMs)),
    toTimestamp(nowMs),
  ]);
  if (count < rows.length) throw new KeyTaken('an idempotency key is taken');
}

export async function deleteExpiredAnswers(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(deleteStatement, [toTimestamp(nowMs)]);
  return count;
}

/** Binds the ciphertext to its row: a body moved to another key does not decrypt. */
function sealContext(hash: Buffer): string {
  return `idempotency:${hash.toString('base64')}`;
}

function openBody(keys: KeyRing, { hash, sealedBody }: Pick<AnswerRow, 'hash' | 'sealedBody'>): string {
  return keys.open(sealedBody, sealContext(hash)).toString('utf8');
}

/** One entry per hash, in order; undefined where no answer is stored. */
async function findAnswers(tx: Tx, hashes: Buffer[], nowMs: number): Promise<(StoredAnswer | undefined)[]> {
  const { rows } = await tx.query<StoredAnswer>(selectAnswers, [hashes, toTimestamp(nowMs)]);
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]));
  return hashes.map((hash) => byHash.get(hash.toString('base64')));
}

const selectAnswers = {
  name: 'select-idempotent-answers',
  text: `select hash, payload_hash as "payloadHash", status, sealed_body as "sealedBody", location
    from idempotency where hash = any($1) and expires_at > $2`,
};

/**
 * Deletes stored answers whose body contains a text, such as a number to erase. Reads all rows in small pieces, because
 * Postgres cannot search the encrypted bodies.
 */
export async function deleteAnswersAbout(database: Database, keys: KeyRing, text: string): Promise<number> {
  let deleted = 0;
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const { rows } = await database.query<Pick<AnswerRow, 'hash' | 'sealedBody'>>(selectPiece, [after]);
    const found = rows.filter((row) => openBody(keys, row).includes(text));
    if (found.length > 0) {
      await database.query('delete from idempotency where hash = any($1)', [found.map(({ hash }) => hash)]);
    }
    deleted += found.length;
    const last = rows.at(-1);
    if (last === undefined) return deleted;
    after = last.hash;
  }
}

const selectPiece = {
  name: 'select-idempotent-answers-after',
  text: `select hash, sealed_body as "sealedBody" from idempotency where hash > $1 order by hash limit ${pieceRows}`,
};

const insertStatement = {
  name: 'insert-idempotent-answers',
  text: `insert into idempotency as kept (hash, payload_hash, correlation_id, status, sealed_body, location, expires_at)
    select hash, payload_hash, correlation_id, status, sealed_body, location, expires_at
    from unnest($1::bytea[], $2::bytea[], $3::text[], $4::smallint[], $5::bytea[], $6::text[], $7::timestamptz[])
      as n(hash, payload_hash, correlation_id, status, sealed_body, location, expires_at)
    on conflict (hash) do update set payload_hash = excluded.payload_hash, correlation_id = excluded.correlation_id,
      status = excluded.status, sealed_body = excluded.sealed_body, location = excluded.location, expires_at = excluded.expires_at
      where kept.correlation_id = excluded.correlation_id or kept.expires_at <= $8`,
};

const deleteStatement = {
  name: 'delete-expired-answers',
  text: `delete from idempotency where hash in (select hash from idempotency where expires_at <= $1 limit ${pieceRows})`,
};
