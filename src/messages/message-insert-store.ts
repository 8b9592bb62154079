import { apiNames } from '../http/route.ts';
import type { Statement, Tx } from '../platform/database/database.ts';
import { fromTextRows, mayHoldMark, type TextRows, writeTextRows } from '../platform/database/text-rows.ts';
import { uuidOf } from '../platform/ids.ts';
import { channelNames } from './channel.ts';
import { encodingNames, laneNames, type Message } from './message.ts';
import { reportChanges } from './message-events.ts';
import { queueInserts } from './message-queue.ts';
import { errorCodeOf, statusCode } from './message-row.ts';
import { insertEnds } from './message-store.ts';

/** Inserts a batch and queues it, in one statement. Callers make the ids, so a batch that runs twice writes once. */
export async function insertMessages(tx: Tx, messages: Message[]): Promise<void> {
  if (messages.length > 0) await tx.query(insertStatement, messageRows(messages));
}

/**
 * Like `insertMessages`, but inserts nothing and returns false if there is any opt-out: then each text is checked. `again` says that
 * an earlier run may have inserted the messages, or may still do so.
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
  /** 1 if the first status of a message emits an event. */
  sequence?: 0 | 1;
  /** Leaves existing messages unchanged. Finding them takes Postgres 7 µs a message. */
  mayExist?: boolean;
}

/**
 * The CTEs that insert messages and queue them, for a statement that also writes other rows. Their parameters are
 * `messageRows`, numbered from `first`.
 */
export const messageInserts = (first: number, options: InsertOptions = {}) => `${insertedMessages(first, options)},
  ${queueInserts('inserted_message')}`;

const insertedMessages = (
  first: number,
  { only, condition = 'true', sequence = 0, mayExist = false }: InsertOptions,
) => `inserted_message as (
    insert into message (id, application_id, api, verification_id, channel, recipient, sender, body, template, status,
      encoding, segment_count, characters, remaining, reference, correlation_id, created_at, updated_at, expires_at,
      carrier, send_at, lane, error_code, sent_as, deferred_until, route_version, route_rule, route_given, status_callback,
      trace, sequence)
    select c[1]::uuid, c[2]::uuid, c[3]::smallint, c[4]::uuid, c[5]::smallint, c[6], c[7], c[8], c[9]::jsonb,
      c[10]::smallint, c[11]::smallint, c[12]::smallint, c[13]::integer, c[14]::smallint, c[15], c[16]::uuid,
      to_timestamp(c[17]::float8 / 1000), to_timestamp(c[17]::float8 / 1000), to_timestamp(c[18]::float8 / 1000),
      c[19], to_timestamp(c[20]::float8 / 1000), c[21]::smallint, c[22]::smallint, c[23],
      to_timestamp(c[24]::float8 / 1000), c[25]::integer, c[26]::smallint, c[27]::jsonb,
      c[28], c[29], ${sequence}
    from ${fromTextRows(first)} m
    where ${condition} ${only === undefined ? '' : `and place in (select place from ${only})`}
    ${mayExist ? 'on conflict (id) do nothing' : ''}
    returning id, application_id, lane, carrier, coalesce(deferred_until, send_at) as due_at, expires_at, api, status,
      created_at, error_code, sequence, status_callback)`;

/** It reads no table, so its plan never has to change. */
const insertStatement: Statement = {
  name: 'insert-messages',
  text: `with ${messageInserts(1, { mayExist: true })} select`,
  planOnce: true,
};

/** Reads one row of `opt_out`, so its plan never has to change either. */
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
      select id, application_id as "applicationId", api, status, sequence, created_at as updated_at, error_code,
        status_callback
      from inserted_message),
    ended as (${insertEnds('changed')}),
    ${reportChanges('changed')}
    select`,
  planOnce: true,
};

/** Joins the cells of a row by hand: this is a large part of a text's cost. */
export function messageRows(messages: Message[]): TextRows {
  // Most of a batch have one application, and those of one request its id.
  let [applicationId, application, correlationId, correlation] = ['', '', '', ''];
  return writeTextRows(messages, holdsMark, (message, { cell: c, none }) => {
    if (message.applicationId !== applicationId) {
      applicationId = message.applicationId;
      application = uuidOf(applicationId);
    }
    if (message.correlationId !== correlationId) {
      correlationId = message.correlationId;
      correlation = uuidOf(correlationId);
    }
    const { verificationId, template, errorCode } = message;
    const verification = verificationId === null ? none : uuidOf(verificationId);
    const about = `${verification}${c}${channelNames.indexOf(message.channel)}${c}${message.to}${c}${message.sender}`;
    const text = `${message.body ?? none}${c}${template === null ? none : JSON.stringify(template)}`;
    const size = `${encodingNames.indexOf(message.encoding)}${c}${message.segmentCount}${c}${message.characters}${c}${message.remaining}`;
    const times = `${message.createdAtMs}${c}${message.expiresAtMs}${c}${message.carrier}${c}${message.sendAtMs ?? none}`;
    const end = `${laneNames.indexOf(message.lane)}${c}${errorCode === null ? none : errorCodeOf(errorCode)}`;
    return (
      `${uuidOf(message.id)}${c}${application}${c}${apiNames.indexOf(message.api)}${c}${about}${c}${text}${c}` +
      `${statusCode(message.status)}${c}${size}${c}${message.reference ?? none}${c}${correlation}${c}${times}${c}${end}` +
      rareCells(message, c, none)
    );
  });
}

/** Whether a cell may contain the separator. Ids, numbers and JSON never do. */
function holdsMark({ to, sender, body, carrier, reference, sentAs, statusCallback }: Message): boolean {
  return (
    mayHoldMark(body) ||
    mayHoldMark(reference) ||
    mayHoldMark(sender) ||
    mayHoldMark(to) ||
    mayHoldMark(carrier) ||
    mayHoldMark(sentAs) ||
    mayHoldMark(statusCallback)
  );
}

/** Most messages need none of these: the statement reads a cell that is not there as null. */
function rareCells(message: Message, c: string, none: string): string {
  const { sentAs, deferredUntilMs, routing, statusCallback, trace } = message;
  const hasMore = statusCallback !== undefined || trace !== undefined;
  if (routing === undefined && sentAs === null && deferredUntilMs === null && !hasMore) return '';
  const { version, rule, given } = routing ?? {};
  const route = `${version ?? none}${c}${rule ?? none}${c}${given ? JSON.stringify(given) : none}`;
  const cells = `${c}${sentAs ?? none}${c}${deferredUntilMs ?? none}${c}${route}`;
  return hasMore ? `${cells}${c}${statusCallback ?? none}${c}${trace ?? none}` : cells;
}
