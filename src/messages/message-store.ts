import { type Api, apiNames } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { TurnedIndex } from '../platform/database/index-turn.ts';
import { packed, unpack } from '../platform/database/packed-row.ts';
import { idWeeks, type PartitionedTable } from '../platform/database/partitions.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { type Message, type MessageStatus, type ShownMessage, unsentStatuses } from './message.ts';
import { changedColumns, reportChanges } from './message-events.ts';
import {
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

/** The index of numbers; large stores of older versions still have the one that begins with the application. */
export const numberIndex: TurnedIndex = {
  table: 'message',
  name: 'message_number',
  definition: '(recipient, application_id, api, id) where verification_id is null',
  replaces: 'message_recipient',
};

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
 * The condition for `toIdRange`, given as three parameters from `first`. Postgres chooses the partitions by the range.
 * Planning with the ids themselves would take ten times as long for 500 of them.
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

/**
 * Cancels messages that have not left yet, and returns them by id. A message that may have been sent can still arrive, so
 * it is not canceled.
 */
export async function cancelMessages(tx: Tx, keys: MessageKey[], nowMs: number): Promise<Map<string, Message>> {
  const { rows } = await tx.query<MessageRow>(cancelMessagesStatement, [
    ...toIdRange(keys.map(({ id }) => id)),
    toTimestamp(nowMs),
    keys.map(({ applicationId }) => uuidOf(applicationId)),
    keys.map(({ api }) => apiNames.indexOf(api)),
  ]);
  return new Map(rows.map(toMessage).map((message) => [message.id, message]));
}

/** Cancels texts of verifications, unless they have left. */
export async function cancelTexts(tx: Tx, messageIds: string[], nowMs: number): Promise<void> {
  if (messageIds.length === 0) return;
  await tx.query(cancelTextsStatement, [...toIdRange(messageIds), toTimestamp(nowMs)]);
}

/** Cancels only messages that it can remove from the queue or the schedule: a worker may have claimed the others. */
const cancel = (isOne: string) => `with wanted as (
      select id, application_id, carrier, lane from message
      where ${isInRange(1)} and status in (${statusCodes(unsentStatuses)}) and ${isOne}),
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
    ${reportChanges('canceled')}
    select * from canceled`;

const cancelMessagesStatement = {
  name: 'cancel-messages',
  text: cancel('(id, application_id, api) in (select * from unnest($1::uuid[], $5::uuid[], $6::smallint[]))'),
};

const cancelTextsStatement = {
  name: 'cancel-texts',
  text: cancel(`api = ${apiNames.indexOf('verify')}`),
};

/**
 * Adds messages that ended badly to `message_end`, for lists by status. The rows have `id`, `"applicationId"`, `api` and
 * `status`.
 */
export function insertEnds(rows: string): string {
  return `insert into message_end (application_id, api, status, message_id)
    select "applicationId", api, status, id from ${rows} where api <> ${apiNames.indexOf('verify')} on conflict do nothing`;
}

/** Deletes a batch of ends of messages that are older than all retained messages. */
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
 * range of two parameters: Postgres chooses the partitions by it before the id is known.
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
