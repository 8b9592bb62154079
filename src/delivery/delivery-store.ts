import type { Message, MessageErrorCode, MessageStatus } from '../messages/message.ts';
import { messageColumns } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

export interface Claimed extends Message {
  attempt: number;
  /** What the claim decided: to send it, or that its time is over. */
  action: 'submit' | 'expire' | 'give_up';
  /** It was found on the wire: when it is sent now, that may be once too often. */
  inDoubt: boolean;
}

/**
 * Takes what is due, decides what is to be done with each, and writes it down, in one statement: an attempt is on disk
 * before anything is on the wire. One that is found on the wire has no result, so it is in doubt: a verification's text is
 * sent again while it is valid, because it carries the same code. A plain text that the carrier left unanswered is sent
 * once more; one whose worker is gone, after every such loss, because it may never have left, and a text that was answered
 * for is not given up for our own crashes. Each time it is marked as a possible duplicate. Under `at_most_once` neither is
 * sent again.
 */
export async function claimDue(
  tx: Tx,
  options: { carrier: string; nowMs: number; leaseMs: number; limit: number; atMostOnce: boolean },
): Promise<Claimed[]> {
  const { carrier, nowMs, leaseMs, limit, atMostOnce } = options;
  const { rows } = await tx.query<Claimed>(claimStatement, [
    carrier,
    toTimestamp(nowMs),
    limit,
    toTimestamp(nowMs + leaseMs),
    atMostOnce,
    mostResends,
  ]);
  return rows;
}

/** For a text whose worker always dies: it may be the text that kills it. */
const mostResends = 5;

// None of these statements has a name: a plan made while the table was small would go through all of it when it is not.
const claimStatement = `with due as (
      select id as due_id, on_the_wire as in_doubt, case
          when status = 'sent' then 'give_up'
          when on_the_wire and (expires_at <= $2
            or (api <> 'verify' and ($5 or unanswered > 1 or possible_duplicates >= $6))) then 'give_up'
          when expires_at <= $2 then 'expire'
          else 'submit' end as action
      from message where carrier = $1 and due_at <= $2 order by due_at limit $3 for update skip locked)
    update message set
      status = case action when 'submit' then 'queued' when 'expire' then 'expired' else 'unknown' end,
      error_code = case action when 'expire' then 'expired' else error_code end,
      due_at = case action when 'submit' then $4::timestamptz end,
      on_the_wire = action = 'submit',
      attempt = attempt + case action when 'submit' then 1 else 0 end,
      possible_duplicates = possible_duplicates + case when action = 'submit' and in_doubt then 1 else 0 end,
      sequence = sequence + case when action = 'submit' and status = 'queued' then 0 else 1 end,
      updated_at = case when action = 'submit' and status = 'queued' then updated_at else $2 end
    from due where id = due_id
    returning ${messageColumns}, attempt, action, in_doubt as "inDoubt"`;

export interface Result {
  messageId: string;
  /** The claim this is the result of. */
  attempt: number;
  status: Extract<MessageStatus, 'sent' | 'queued' | 'failed'>;
  carrierMessageId: string | null;
  error: MessageErrorCode | null;
  dueAtMs: number | null;
}

/** Writes what came of a batch of claims. A result whose claim is over, by lease or by receipt, changes nothing. */
export async function recordResults(tx: Tx, results: Result[], nowMs: number): Promise<void> {
  if (results.length === 0) return;
  const sorted = [...results].sort((a, b) => (a.messageId < b.messageId ? -1 : 1));
  await tx.query(resultStatement, [
    sorted.map(({ messageId }) => messageId),
    sorted.map(({ attempt }) => attempt),
    sorted.map(({ status }) => status),
    sorted.map(({ carrierMessageId }) => carrierMessageId),
    sorted.map(({ error }) => error),
    sorted.map(({ dueAtMs }) => (dueAtMs === null ? null : toTimestamp(dueAtMs))),
    toTimestamp(nowMs),
  ]);
}

const resultStatement = `update message m set status = r.status, on_the_wire = false, due_at = r.due_at,
      carrier_message_id = coalesce(r.carrier_message_id, m.carrier_message_id), error_code = r.error_code,
      updated_at = case when r.status = 'queued' then m.updated_at else $7::timestamptz end,
      sequence = sequence + case when r.status = 'queued' then 0 else 1 end,
      sent_at = case when r.status = 'sent' then $7::timestamptz end
    from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
      as r(id, attempt, status, carrier_message_id, error_code, due_at)
    where m.id = r.id and m.attempt = r.attempt and m.on_the_wire and m.status = 'queued'`;

/**
 * Puts off claims whose outcome nobody knows. They stay on the wire: until they are due a receipt or a late answer may
 * still settle them, and the next claim decides what becomes of the others.
 */
export async function releaseInDoubt(
  tx: Tx,
  claims: { messageId: string; attempt: number; dueAtMs: number }[],
): Promise<void> {
  if (claims.length === 0) return;
  const sorted = [...claims].sort((a, b) => (a.messageId < b.messageId ? -1 : 1));
  await tx.query(
    `update message m set due_at = c.due_at, unanswered = unanswered + 1
     from unnest($1::text[], $2::integer[], $3::timestamptz[]) as c(id, attempt, due_at)
     where m.id = c.id and m.attempt = c.attempt and m.on_the_wire`,
    [
      sorted.map(({ messageId }) => messageId),
      sorted.map(({ attempt }) => attempt),
      sorted.map(({ dueAtMs }) => toTimestamp(dueAtMs)),
    ],
  );
}

/** The only node there is has just started: whatever is on the wire was left there by a process that is gone. */
export async function releaseAbandoned(tx: Tx, carrier: string, nowMs: number, leaseMs: number): Promise<number> {
  const { count } = await tx.query(
    'update message set due_at = $2 where carrier = $1 and due_at > $2 and due_at <= $3 and on_the_wire',
    [carrier, toTimestamp(nowMs), toTimestamp(nowMs + leaseMs)],
  );
  return count;
}

export interface QueueState {
  /** Due, and nobody's yet; counted no further than that. */
  waiting: number;
  onTheWire: number;
  oldestDueAtMs: number | null;
}

const countedTo = 10_000;

/** How far behind the queue of all carriers is. */
export async function readQueueState(tx: Tx, nowMs: number): Promise<QueueState> {
  const { rows } = await tx.query<QueueState>(
    `with due as (
       select due_at, on_the_wire from message
       where due_at is not null and status = 'queued' and (due_at <= $1 or on_the_wire) limit $2)
     select count(*) filter (where not on_the_wire) as waiting, count(*) filter (where on_the_wire) as "onTheWire",
       min(due_at) filter (where not on_the_wire) as "oldestDueAtMs" from due`,
    [toTimestamp(nowMs), countedTo],
  );
  return rows[0] ?? { waiting: 0, onTheWire: 0, oldestDueAtMs: null };
}
