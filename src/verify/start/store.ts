import type { Message } from '../../messages/message.ts';
import { messageInserts, messageRows } from '../../messages/message-insert-store.ts';
import { dayMs } from '../../platform/clock.ts';
import type { Statement, Tx } from '../../platform/database/database.ts';
import { fromTextRows, type TextRows, toTextRows } from '../../platform/database/text-rows.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../platform/ids.ts';
import { ofNumber, time } from '../pending-store.ts';
import type { Verification } from '../verification.ts';
import { insertVerificationEvents } from '../verification-events.ts';
import { channelCode, reasonCode, statusCode } from '../verification-row.ts';
import { isPending } from '../verification-store.ts';

/** A verification with the groups of its client and the caller's sealed code. */
export interface StartedRow {
  verification: Verification;
  clients: readonly string[];
  sealedCode?: string | null;
}

/** The cells of a start's rows, by their column names. */
function startCells(rows: readonly StartedRow[]): TextRows {
  return toTextRows(
    rows.map(({ verification, clients, sealedCode = null }) => [
      uuidOf(verification.id),
      uuidOf(verification.applicationId),
      channelCode(verification.channel),
      verification.to,
      statusCode(verification.status),
      reasonCode(verification.reason),
      verification.codeLength,
      verification.ringVersion,
      verification.testNumber,
      verification.maxAttempts,
      verification.sends,
      verification.reference,
      uuidOf(verification.correlationId),
      verification.resendAvailableAtMs,
      verification.createdAtMs,
      verification.expiresAtMs,
      `{${verification.textIds.map(uuidOf).join()}}`,
      Math.round((verification.expiresAtMs - verification.createdAtMs) / 1000),
      clients.length === 0 ? null : `{${clients.join()}}`,
      verification.codeHash,
      sealedCode,
      verification.payment,
      verification.precheck,
      verification.inbound,
    ]),
  );
}

const startedRows = `select place, c[1]::uuid as id, c[2]::uuid as application_id, c[4] as recipient,
    c[5]::smallint as status, ${time('c[16]')} as expires_at, c from ${fromTextRows()} t`;
const insertRecords = (from: string) => `insert into verification (id, application_id, channel, recipient, status,
      reason, code_length, ring_version, test_number, max_attempts, sends, reference, correlation_id,
      resend_available_at, created_at, updated_at, expires_at, text_ids, code_hash, payment,
      precheck, inbound)
    select id, application_id, c[3]::smallint, recipient, status, c[6]::smallint, c[7]::smallint, c[8]::integer,
      c[9]::boolean, c[10]::smallint, c[11]::smallint, c[12], c[13]::uuid, ${time('c[14]')}, ${time('c[15]')},
      ${time('c[15]')}, expires_at, c[17]::uuid[], c[20]::bytea, c[22], c[23], c[24]
    from ${from}`;
const insertPending = (conditions: string) => `insert into pending_verification (verification_id, application_id,
      expires_at, lifetime_seconds, recipient, sealed_code)
    select id, application_id, expires_at, c[18]::integer, recipient, c[21]::bytea from v where ${conditions} order by place`;

/**
 * Starts verifications with one text each, where the number has no pending verification and no wrong codes of the day.
 * One statement is one transaction. Returns the started ids.
 */
export async function startFree(
  tx: Tx,
  starts: readonly StartedRow[],
  texts: Message[],
  nowMs: number,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(startFreeStatement, [
    ...startCells(starts),
    ...messageRows(texts),
    uuidFloor(nowMs - dayMs),
  ]);
  return new Set(rows.map(({ id }) => fromUuid('ver', id)));
}

/** The row comparison makes Postgres read this table by its primary key: the other index then has no condition. */
const startFreeStatement: Statement = {
  name: 'start-free-verifications',
  planOnce: true,
  text: `with v as materialized (${startedRows}),
    taken as (
      ${insertPending(`(
        select true from ${ofNumber('recent_failure', 'v.application_id', 'v.recipient')}
          and (recipient, application_id, verification_id) >= (v.recipient, v.application_id, $11) limit 1) is null`)}
      on conflict do nothing returning verification_id),
    free as materialized (select v.* from v where id in (select verification_id from taken)),
    started as (${insertRecords('free')}),
    ${messageInserts(6, { only: 'free' })}
    select id from free`,
};

/**
 * Inserts what a transaction has decided: pending verifications and their texts, and blocked ones. If another node has
 * taken a number since, the key `verification_pending` refuses the statement. `counted` says if a rule counts prefixes.
 */
export async function insertStarts(
  tx: Tx,
  starts: readonly StartedRow[],
  texts: Message[],
  counted: boolean,
): Promise<void> {
  await tx.query(insertStartsStatement, [...startCells(starts), ...messageRows(texts), counted]);
}

const insertStartsStatement = {
  name: 'insert-verification-starts',
  text: `with v as materialized (${startedRows}),
    opened as (${insertPending(isPending)}),
    started as (${insertRecords('v')} returning id, application_id, status, updated_at),
    ended as (
      insert into ended_verification (verification_id, application_id, status, recipient)
      select id, application_id, status, recipient from v where not ${isPending}),
    emitted as (${insertVerificationEvents('started')}),
    counted as (
      insert into counted_start (application_id, prefix, verification_id)
      select application_id, left(recipient, -4), id from v where ${isPending} and $11::boolean),
    known as (
      insert into start_client (verification_id, clients)
      select id, c[19]::text[] from v where c[19] is not null),
    ${messageInserts(6)}
    select`,
};
