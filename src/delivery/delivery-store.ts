import type { Message, MessageErrorCode, MessageStatus } from '../messages/message.ts';
import { messageColumns } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

export interface ClaimedMessage extends Message {
  attempt: number;
  /** Set by the claim: send it, or end it as `expired` or `unknown`. */
  action: 'submit' | 'expire' | 'give_up';
  /** The message was already on the wire: sending it again may duplicate it, which `possible_duplicates` counts. */
  inDoubt: boolean;
}

/**
 * Claims due messages in one statement: an attempt is on disk before it is on the wire. A message found on the wire is
 * in doubt. A verification's text is then sent again while valid (same code); a plain text once if the carrier did not
 * answer, and up to `mostResends` times if its worker died, as it may never have left; not at all under `at_most_once`.
 */
export async function claimDue(
  tx: Tx,
  options: { carrier: string; nowMs: number; leaseMs: number; limit: number; atMostOnce: boolean },
): Promise<ClaimedMessage[]> {
  const { carrier, nowMs, leaseMs, limit, atMostOnce } = options;
  const { rows } = await tx.query<ClaimedMessage>(claimStatement, [
    carrier,
    toTimestamp(nowMs),
    limit,
    toTimestamp(nowMs + leaseMs),
    atMostOnce,
    mostResends,
  ]);
  return rows;
}

/** Stops resending a text whose worker always dies: the text may be the cause. */
const mostResends = 5;

// Unnamed statements: Postgres would keep a plan made while the table was small, and later scan the whole table.
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

export interface AttemptResult {
  messageId: string;
  /** The attempt number of the claim. */
  attempt: number;
  status: Extract<MessageStatus, 'sent' | 'queued' | 'failed'>;
  carrierMessageId: string | null;
  error: MessageErrorCode | null;
  dueAtMs: number | null;
}

/** Records the results of a batch of claims. A result changes nothing if its lease ran out or a receipt came first. */
export async function recordResults(tx: Tx, results: AttemptResult[], nowMs: number): Promise<void> {
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
 * Postpones claims without an answer. They stay on the wire: a receipt or a late answer may still settle them, else the
 * next claim decides.
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

/** When the only node starts, a dead process has left the messages on the wire: make them due now. */
export async function releaseAbandoned(tx: Tx, carrier: string, nowMs: number, leaseMs: number): Promise<number> {
  const { count } = await tx.query(
    'update message set due_at = $2 where carrier = $1 and due_at > $2 and due_at <= $3 and on_the_wire',
    [carrier, toTimestamp(nowMs), toTimestamp(nowMs + leaseMs)],
  );
  return count;
}

export interface QueueState {
  /** Due and not claimed; counts stop at `mostCounted`. */
  waiting: number;
  onTheWire: number;
  oldestDueAtMs: number | null;
}

const mostCounted = 10_000;

/** The backlog over all carriers. */
export async function readQueueState(tx: Tx, nowMs: number): Promise<QueueState> {
  const { rows } = await tx.query<QueueState>(
    `with due as (
       select due_at, on_the_wire from message
       where due_at is not null and status = 'queued' and (due_at <= $1 or on_the_wire) limit $2)
     select count(*) filter (where not on_the_wire) as waiting, count(*) filter (where on_the_wire) as "onTheWire",
       min(due_at) filter (where not on_the_wire) as "oldestDueAtMs" from due`,
    [toTimestamp(nowMs), mostCounted],
  );
  return rows[0] ?? { waiting: 0, onTheWire: 0, oldestDueAtMs: null };
}
