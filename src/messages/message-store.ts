import type { PageRequest } from '../http/list-page.ts';
import type { Api } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { fromTextRows, type TextRows, toTextRows } from '../platform/text-rows.ts';
import { type Message, type MessageStatus, type ShownMessage, statesBefore } from './message.ts';

/** The columns the API returns. Lists read the most rows, so they select no other column. */
const shownColumns = `id, channel, recipient as "to", sender, body, status, encoding, segment_count as "segmentCount",
  characters, remaining, reference, error_code as "errorCode", created_at as "createdAtMs",
  updated_at as "updatedAtMs", sent_at as "sentAtMs", delivered_at as "deliveredAtMs", expires_at as "expiresAtMs"`;

export const messageColumns = `${shownColumns}, application_id as "applicationId", api,
  verification_id as "verificationId", template, correlation_id as "correlationId", carrier, due_at as "dueAtMs"`;

/** Inserts a batch in one statement. Callers make the ids, so a batch that runs twice writes once. */
export async function insertMessages(tx: Tx, messages: Message[]): Promise<void> {
  if (messages.length > 0) await tx.query(insertStatement, messageRows(messages));
}

/**
 * For a statement that also writes other rows; its parameters are `messageRows`, numbered from `first`. `only` names a
 * query whose column `place` lists the rows to insert; without it, all are.
 */
export const insertMessagesSql = (
  first: number,
  only?: string,
) => `insert into message (id, application_id, api, verification_id,
      channel, recipient, sender, body, template, status, encoding, segment_count, characters, remaining, reference,
      correlation_id, created_at, updated_at, expires_at, carrier, due_at)
    select c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9]::jsonb, c[10], c[11], c[12]::smallint, c[13]::integer,
      c[14]::smallint, c[15], c[16], to_timestamp(c[17]::float8 / 1000), to_timestamp(c[17]::float8 / 1000),
      to_timestamp(c[18]::float8 / 1000), c[19], to_timestamp(c[20]::float8 / 1000)
    from ${fromTextRows(first)} m
    ${only === undefined ? '' : `where place in (select place from ${only})`}
    on conflict (id) do nothing`;

const insertStatement = { name: 'insert-messages', text: insertMessagesSql(1) };

export function messageRows(messages: Message[]): TextRows {
  return toTextRows(
    messages.map((message) => [
      message.id,
      message.applicationId,
      message.api,
      message.verificationId,
      message.channel,
      message.to,
      message.sender,
      message.body,
      message.template && JSON.stringify(message.template),
      message.status,
      message.encoding,
      message.segmentCount,
      message.characters,
      message.remaining,
      message.reference,
      message.correlationId,
      message.createdAtMs,
      message.expiresAtMs,
      message.carrier,
      message.dueAtMs,
    ]),
  );
}

/** A message belongs to one application and the API that it was sent through. */
export interface MessageKey {
  applicationId: string;
  api: Api;
  id: string;
}

/** Returns the message for each key, in order, with one query. */
export async function findByKeys(tx: Tx, keys: MessageKey[]): Promise<(ShownMessage | undefined)[]> {
  const { rows } = await tx.query<ShownMessage | { id: null }>(
    selectByKeys,
    toTextRows(keys.map(({ id, applicationId, api }) => [id, applicationId, api])),
  );
  return rows.map((row) => (row.id === null ? undefined : row));
}

const selectByKeys = {
  name: 'select-messages-by-keys',
  text: `select m.* from ${fromTextRows()} k
    left join lateral (
      select ${shownColumns} from message
      where id = k.c[1] and application_id = k.c[2] and api = k.c[3] limit 1) m on true
    order by k.place`,
};

export async function findMessages(tx: Tx, ids: string[]): Promise<Message[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<Message>(selectSeveral, [ids]);
  return rows;
}

const selectSeveral = {
  name: 'select-messages',
  text: `select ${messageColumns} from message where id = any($1)`,
};

export interface MessageFilter {
  to?: string | undefined;
  status?: string | undefined;
  reference?: string | undefined;
}

/** Callers ask for one row more than a page to detect a next page. Every filter has an index that ends in the id. */
export async function listMessages(
  tx: Tx,
  applicationId: string,
  api: Api,
  filter: MessageFilter,
  page: PageRequest,
): Promise<ShownMessage[]> {
  // Postgres rejects NUL in a parameter, and no row contains one.
  if (filter.to?.includes('\0') || filter.reference?.includes('\0')) return [];
  const values: unknown[] = [applicationId, api, page.limit];
  const conditions = ['application_id = $1', 'api = $2'];
  const add = (column: string, operator: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${column} ${operator} $${values.length}`);
  };
  add('recipient', '=', filter.to);
  add('status', '=', filter.status);
  add('reference', '=', filter.reference);
  add('id', '<', page.after);
  const text = `select ${shownColumns} from message where ${conditions.join(' and ')} order by id desc limit $3`;
  const { rows } = await tx.query<ShownMessage>(text, values);
  return rows;
}

/** Cancels a message that has not left yet. A message on the wire may still arrive, so it is not canceled. */
export async function cancelMessage(
  tx: Tx,
  applicationId: string,
  api: Api,
  id: string,
  nowMs: number,
): Promise<ShownMessage | undefined> {
  const { rows } = await tx.query<ShownMessage>(cancelStatement, [
    id,
    applicationId,
    api,
    toTimestamp(nowMs),
    statesBefore('canceled') satisfies MessageStatus[],
  ]);
  return rows[0];
}

const cancelStatement = {
  name: 'cancel-message',
  text: `update message set status = 'canceled', updated_at = $4, due_at = null, sequence = sequence + 1
    where id = $1 and application_id = $2 and api = $3 and status = any($5) and not on_the_wire
    returning ${shownColumns}`,
};

export interface VerificationText {
  messageId: string;
  status: MessageStatus;
  errorCode: Message['errorCode'];
  /** The request that created the text. */
  correlationId: string;
}

/** The states of these texts, by message id. */
export async function findTexts(tx: Tx, messageIds: string[]): Promise<Map<string, VerificationText>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<VerificationText>(selectTexts, [messageIds]);
  return new Map(rows.map((text) => [text.messageId, text]));
}

const selectTexts = {
  name: 'select-texts',
  text: `select id as "messageId", status, error_code as "errorCode", correlation_id as "correlationId"
    from message where id = any($1)`,
};

/** Cancels those of these texts that have not left yet. */
export async function cancelTexts(tx: Tx, messageIds: string[], nowMs: number): Promise<void> {
  if (messageIds.length === 0) return;
  await tx.query(
    `update message set status = 'canceled', updated_at = $2, due_at = null, sequence = sequence + 1
     where id = any($1) and status = any($3) and not on_the_wire`,
    [messageIds, toTimestamp(nowMs), statesBefore('canceled')],
  );
}
