import type { Clock } from './clock.ts';
import { toTimestamp } from './clock.ts';
import type { Database, Tx } from './database.ts';
import { ApiError, invalidField } from './errors.ts';
import { keyedHash, sameBytes } from './secrets.ts';

/** What was answered, as it went out. */
export interface KeptAnswer {
  status: number;
  body: string;
  location: string | null;
}

/** An answer on its way into the transaction of the work it belongs to. */
export interface IdempotencyRow extends KeptAnswer {
  hash: Buffer;
  payloadHash: Buffer;
  correlationId: string;
}

export interface IdempotentRequest {
  key: string;
  applicationId: string;
  method: string;
  path: string;
  payload: unknown;
  correlationId: string;
}

export interface Idempotency {
  /**
   * Does the work once per key. `work` gets a function that turns its answer into the row it has to write in its own
   * transaction, so that a crash leaves either both or neither.
   */
  once(
    request: IdempotentRequest,
    work: (keep: (answer: KeptAnswer) => IdempotencyRow | undefined) => Promise<KeptAnswer>,
  ): Promise<KeptAnswer & { replayed: boolean }>;
}

const keptForMs = 86_400_000;

export function createIdempotency(database: Database, clock: Clock, hashKey: Buffer): Idempotency {
  const inFlight = new Set<string>();

  async function replay(hash: Buffer, payloadHash: Buffer): Promise<(KeptAnswer & { replayed: true }) | undefined> {
    const { rows } = await database.query<KeptAnswer & { payloadHash: Buffer }>(selectAnswer, [
      hash,
      toTimestamp(clock.nowMs()),
    ]);
    const kept = rows[0];
    if (kept === undefined) return undefined;
    if (!sameBytes(kept.payloadHash, payloadHash)) {
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used with another payload. Use a new key.',
      );
    }
    return { status: kept.status, body: kept.body, location: kept.location, replayed: true };
  }

  return {
    async once({ key, applicationId, method, path, payload, correlationId }, work) {
      const hash = keyedHash(hashKey, JSON.stringify([applicationId, method, path, key]));
      const payloadHash = keyedHash(hashKey, canonicalJson(payload));
      const name = hash.toString('base64');
      if (inFlight.has(name)) throw inProgress();
      inFlight.add(name);
      try {
        const kept = await replay(hash, payloadHash);
        if (kept !== undefined) return kept;
        const answer = await work((given) => ({ ...given, hash, payloadHash, correlationId }));
        return { ...answer, replayed: false };
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error;
        // Another node was faster with the same key: its answer is the answer.
        const kept = await replay(hash, payloadHash);
        if (kept === undefined) throw inProgress();
        return kept;
      } finally {
        inFlight.delete(name);
      }
    },
  };
}

function inProgress(): ApiError {
  const message = 'A request with this Idempotency-Key is being worked on. Try again shortly.';
  return new ApiError('IDEMPOTENCY_IN_PROGRESS', message);
}

const deepest = 64;

/** Equal for equal JSON: in which order an object's properties come says nothing, and not every client keeps it. */
export function canonicalJson(value: unknown, depth = 0): string {
  // What is built to overflow the stack is the caller's mistake, not ours.
  if (depth > deepest) throw invalidField('body', `must not be nested more than ${deepest} deep`);
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const properties = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${properties.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depth + 1)}`).join(',')}}`;
}

/** Another request holds the key. Looks like a violated constraint, so that a batch tries its rows one by one. */
class KeyTaken extends Error {
  readonly code = '23505';
}

/** Writes the answers of a batch. One that is there already, from this very request, is the batch running twice. */
export async function insertAnswers(tx: Tx, rows: IdempotencyRow[], nowMs: number): Promise<void> {
  if (rows.length === 0) return;
  const { count } = await tx.query(insertStatement, [
    rows.map(({ hash }) => hash),
    rows.map(({ payloadHash }) => payloadHash),
    rows.map(({ correlationId }) => correlationId),
    rows.map(({ status }) => status),
    rows.map(({ body }) => body),
    rows.map(({ location }) => location),
    toTimestamp(nowMs + keptForMs),
    toTimestamp(nowMs),
  ]);
  if (count < rows.length) throw new KeyTaken('an idempotency key is taken');
}

export async function deleteExpiredAnswers(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(deleteStatement, [toTimestamp(nowMs)]);
  return count;
}

const selectAnswer = {
  name: 'select-idempotent-answer',
  text: `select payload_hash as "payloadHash", status, body, location from idempotency where hash = $1 and expires_at > $2`,
};

const insertStatement = {
  name: 'insert-idempotent-answers',
  text: `insert into idempotency as kept (hash, payload_hash, correlation_id, status, body, location, expires_at)
    select hash, payload_hash, correlation_id, status, body, location, $7
    from unnest($1::bytea[], $2::bytea[], $3::text[], $4::smallint[], $5::text[], $6::text[])
      as n(hash, payload_hash, correlation_id, status, body, location)
    on conflict (hash) do update set payload_hash = excluded.payload_hash, correlation_id = excluded.correlation_id,
      status = excluded.status, body = excluded.body, location = excluded.location, expires_at = excluded.expires_at
      where kept.correlation_id = excluded.correlation_id or kept.expires_at <= $8`,
};

const deleteStatement = {
  name: 'delete-expired-answers',
  text: `delete from idempotency where hash in (select hash from idempotency where expires_at <= $1 limit 1000)`,
};
