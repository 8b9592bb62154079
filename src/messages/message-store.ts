import { type Api, apiNames } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Statement, Tx } from '../platform/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/maintenance.ts';
import { packed, unpack } from '../platform/packed-row.ts';
import { idWeeks, type PartitionedTable } from '../platform/partitions.ts';
import { type Cell, fromTextRows, type TextRows, toTextRows } from '../platform/text-rows.ts';
import {
  channelNames,
  encodingNames,
  laneNames,
  type Message,
  type MessageStatus,
  type ShownMessage,
  unsentStatuses,
} from './message.ts';
import { changedColumns, insertMessageEvents } from './message-events.ts';
import { queueInserts } from './message-queue.ts';
import {
  errorCodeOf,
  errorOf,
  type MessageRow,
  messageColumns,
  type ShownRow,
  shownColumns,
  statusCode,
  statusCodes,
  statusOf,
  toIdRange,
  toMessage,
  toShown,
} from './message-row.ts';

/** Partitioned by week: an id begins with its time. */
export const messageTable: PartitionedTable = { name: 'message', key: 'id', spans: idWeeks };

/** Inserts a batch and queues it, in one statement. Callers make the ids, so a batch that runs twice writes once. */
export async function insertMessages(tx: Tx, messages: Message[]): Promise<void> {
  if (messages.length > 0) await tx.query(insertStatement, messageRows(messages));
}

/**
 * The same, but inserts nothing and returns false if anyone has opted out of anything: then each text is looked at.
 * `again` says that an earlier run may have inserted the messages, or may still do so.
 */
export async function insertUnlessOptOuts(tx: Tx, messages: Message[], again: boolean): Promise<boolean> {
  const statement = again ? insertUnlessAgainStatement : insertUnlessStatement;
  const { rows } = await tx.query<{ none: boolean }>(statement, messageRows(messages));
  return rows[0]?.none === true;
}

/** Inserts messages that have failed at once: they never enter the queue. */
export async function insertFailed(tx: Tx, messages: Message[]): Promise<void> {
  if (messages.length > 0) await tx.query(insertFailedStatement, messageRows(messages));
}

interface InsertOptions {
  /** Names a query whose column `place` lists the rows to insert. */
  only?: string;
  condition?: string;
  /** 1 where the first state of a message is told. */
  sequence?: 0 | 1;
  /** Messages that are there already are left as they are. To look for them takes Postgres 7 µs a message. */
  mayExist?: boolean;
}

/**
 * The parts of a `with` that insert messages and queue them, for a statement that also writes other rows. The parameters
 * are `messageRows`, numbered from `first`.
 */
export const messageInserts = (first: number, options: InsertOptions = {}) => `${insertedMessages(first, options)},
  ${queueInserts('inserted_message')}`;

const insertedMessages = (
  first: number,
  { only, condition = 'true', sequence = 0, mayExist = false }: InsertOptions,
) => `inserted_message as (
    insert into message (id, application_id, api, verification_id, channel, recipient, sender, body, template, status,
      encoding, segment_count, characters, remaining, reference, correlation_id, created_at, updated_at, expires_at,
      carrier, send_at, lane, error_code, sent_as, deferred_until, route_version, route_rule, route_given, sequence)
    select c[1]::uuid, c[2]::uuid, c[3]::smallint, c[4]::uuid, c[5]::smallint, c[6], c[7], c[8], c[9]::jsonb,
      c[10]::smallint, c[11]::smallint, c[12]::smallint, c[13]::integer, c[14]::smallint, c[15], c[16]::uuid,
      to_timestamp(c[17]::float8 / 1000), to_timestamp(c[17]::float8 / 1000), to_timestamp(c[18]::float8 / 1000),
      c[19], to_timestamp(c[20]::float8 / 1000), c[21]::smallint, c[22]::smallint, c[23],
      to_timestamp(c[24]::float8 / 1000), c[25]::integer, c[26]::smallint, c[27]::jsonb, ${sequence}
    from ${fromTextRows(first)} m
    where ${condition} ${only === undefined ? '' : `and place in (select place from ${only})`}
    ${mayExist ? 'on conflict (id) do nothing' : ''}
    returning id, application_id, lane, carrier, coalesce(deferred_until, send_at) as due_at, api, status, created_at,
      error_code, sequence)`;

/** It reads no table. */
const insertStatement: Statement = {
  name: 'insert-messages',
  text: `with ${messageInserts(1, { mayExist: true })} select`,
  planOnce: true,
};

/** A look at one row of a table that is read in no other way. */
const insertUnless = (mayExist: boolean) => `with anyone as materialized (
      select not exists (select from opt_out) as none),
    ${messageInserts(1, { condition: '(select none from anyone)', mayExist })}
    select none from anyone`;
const insertUnlessStatement: Statement = {
  name: 'insert-messages-unless-opt-outs',
  text: insertUnless(false),
  planOnce: true,
};
const insertUnlessAgainStatement: Statement = {
  name: 'insert-messages-unless-opt-outs-again',
  text: insertUnless(true),
  planOnce: true,
};

const insertFailedStatement: Statement = {
  name: 'insert-failed-messages',
  text: `with ${insertedMessages(1, { sequence: 1, mayExist: true })},
    changed as (
      select id, application_id as "applicationId", api, status, sequence, created_at as updated_at, error_code
      from inserted_message),
    ended as (${insertEnds('changed')}),
    told as (${insertMessageEvents('changed')})
    select`,
  planOnce: true,
};

export function messageRows(messages: Message[]): TextRows {
  return toTextRows(
    messages.map((message) => [
      uuidOf(message.id),
      uuidOf(message.applicationId),
      apiNames.indexOf(message.api),
      message.verificationId && uuidOf(message.verificationId),
      channelNames.indexOf(message.channel),
      message.to,
      message.sender,
      message.body,
      message.template && JSON.stringify(message.template),
      statusCode(message.status),
      encodingNames.indexOf(message.encoding),
      message.segmentCount,
      message.characters,
      message.remaining,
      message.reference,
      uuidOf(message.correlationId),
      message.createdAtMs,
      message.expiresAtMs,
      message.carrier,
      message.sendAtMs,
      laneNames.indexOf(message.lane),
      errorCodeOf(message.errorCode),
      ...routeCells(message),
    ]),
  );
}

/** Most messages need none of these: the statement reads a cell that is not there as null. */
function routeCells({ sentAs, deferredUntilMs, routing }: Message): Cell[] {
  if (routing === undefined && sentAs === null && deferredUntilMs === null) return [];
  const { version = null, rule = null, given = null } = routing ?? {};
  return [sentAs, deferredUntilMs, version, rule, given && JSON.stringify(given)];
}

/** A message belongs to one application and the API that it was sent through. */
export interface MessageKey {
  applicationId: string;
  api: Api;
  id: string;
}

/** Returns the message for each key, in order, with one query. */
export async function findByKeys(tx: Tx, keys: MessageKey[]): Promise<(ShownMessage | undefined)[]> {
  const range = toIdRange(keys.map(({ id }) => id));
  const { rows } = await tx.query<ShownRow & { key: string }>(selectShown, range);
  const found = new Map(rows.map((row) => [row.key, row]));
  return keys.map(({ id, applicationId, api }) => {
    const row = found.get(`${uuidOf(id)}|${uuidOf(applicationId)}|${apiNames.indexOf(api)}`);
    return row && toShown(row);
  });
}

export async function findMessages(tx: Tx, ids: string[]): Promise<Message[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<MessageRow>(selectSeveral, toIdRange(ids));
  return rows.map(toMessage);
}

/**
 * The condition for `toIdRange`, given as three parameters from `first`. The range tells Postgres the partitions; it does
 * not look at the ids when it plans, which would take ten times as long for 500 of them.
 */
export const isInRange = (first: number) =>
  `id = any(array(select unnest($${first}::uuid[]))) and id >= $${first + 1} and id <= $${first + 2}`;

const selectShown = {
  name: 'select-shown-messages',
  text: `select ${packed(['id', 'application_id', 'api'])} as key, ${shownColumns} from message where ${isInRange(1)}`,
};

const selectSeveral = {
  name: 'select-messages',
  text: `select ${messageColumns} from message where ${isInRange(1)}`,
};

/** Cancels a message that has not left yet. A message that may have been sent can still arrive, so it is not canceled. */
export async function cancelMessage(
  tx: Tx,
  { applicationId, api, id }: MessageKey,
  nowMs: number,
): Promise<ShownMessage | undefined> {
  const { rows } = await tx.query<MessageRow>(cancelStatement, [
    ...toIdRange([id]),
    toTimestamp(nowMs),
    uuidOf(applicationId),
    apiNames.indexOf(api),
  ]);
  return rows.map(toMessage)[0];
}

/** Cancels those of the texts of verifications that have not left yet. */
export async function cancelTexts(tx: Tx, messageIds: string[], nowMs: number): Promise<void> {
  if (messageIds.length === 0) return;
  await tx.query(cancelStatement, [...toIdRange(messageIds), toTimestamp(nowMs), null, apiNames.indexOf('verify')]);
}

/** A message is in the queue or the schedule, or a worker has claimed it: only who removes it from them may cancel it. */
const cancelStatement = {
  name: 'cancel-messages',
  text: `with wanted as (
      select id, application_id, carrier, lane from message
      where ${isInRange(1)} and status in (${statusCodes(unsentStatuses)}) and ($5::uuid is null or application_id = $5)
        and api = $6),
    unqueued as (
      delete from delivery_queue q using wanted w where q.carrier = w.carrier and q.lane = w.lane
        and q.application_id = w.application_id and q.message_id = w.id and not q.in_doubt returning q.message_id),
    unscheduled as (
      delete from delivery_schedule s using wanted w
      where s.application_id = w.application_id and s.message_id = w.id and not s.in_doubt returning s.message_id),
    removed as (select message_id from unqueued union all select message_id from unscheduled),
    canceled as (
      update message set status = ${statusCode('canceled')}, updated_at = $4, sequence = sequence + 1
      from removed where id = message_id and id >= $2 and id <= $3
      returning ${messageColumns}, ${changedColumns()}),
    ended as (${insertEnds('canceled')}),
    told as (${insertMessageEvents('canceled')})
    select * from canceled`,
};

/** Notes for lists by status that messages did not end well. The rows have `id`, `"applicationId"`, `api` and `status`. */
export function insertEnds(rows: string): string {
  return `insert into message_end (application_id, api, status, message_id)
    select "applicationId", api, status, id from ${rows} where api <> ${apiNames.indexOf('verify')} on conflict do nothing`;
}

/** Deletes some of the ends of messages that are older than all that are kept. */
export async function deleteOldEnds(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(deleteEndsStatement, [uuidFloor(beforeMs), pieceRows]);
  return count;
}

const deleteEndsStatement = `delete from message_end where ctid = any(array(
    select ctid from message_end where message_id < $1 order by message_id limit $2))`;

export interface VerificationText {
  messageId: string;
  status: MessageStatus;
  errorCode: Message['errorCode'];
  /** The request that created the text. */
  correlationId: string;
}

const textColumns = packed(['status', 'error_code?', 'correlation_id']);

/** The carriers of texts, by message id. */
export async function findCarriersOf(tx: Tx, messageIds: string[]): Promise<Map<string, string>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; carrier: string }>(selectCarriers, toIdRange(messageIds));
  return new Map(rows.map(({ id, carrier }) => [fromUuid('msg', id), carrier]));
}

const selectCarriers = {
  name: 'select-carriers-of-texts',
  text: `select id, carrier from message where ${isInRange(1)}`,
};

/** The state of texts, by message id. */
export async function findTexts(tx: Tx, messageIds: string[]): Promise<Map<string, VerificationText>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; text: string }>(selectTexts, toIdRange(messageIds));
  return new Map(rows.map(({ id, text }) => toText(fromUuid('msg', id), text)).map((text) => [text.messageId, text]));
}

const selectTexts = {
  name: 'select-states-of-texts',
  text: `select id, ${textColumns} as text from message where ${isInRange(1)}`,
};

/**
 * SQL for the state of one text, for statements that read more: a text for `toText`, or null. The id must lie in the
 * range of two parameters: it tells Postgres the partitions before the id is known.
 */
export const textState = (id: string, range: { from: string; below: string }) =>
  `(select ${textColumns} from message where id = ${id} and id >= ${range.from} and id < ${range.below})`;

export function toText(messageId: string, text: string): VerificationText {
  const [status, errorCode = '', correlationId = ''] = unpack(text);
  return {
    messageId,
    status: statusOf(Number(status)),
    errorCode: errorCode === '' ? null : errorOf(Number(errorCode)),
    correlationId: fromUuid('req', correlationId),
  };
}
