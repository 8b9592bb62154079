import { apiNames } from '../../http/route.ts';

import { lanes } from '../../messages/message-queue.ts';
import { errorCodeOf, nameOf, statusCodes } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import type { MovingText, NextCarrier } from '../routing/next-carrier.ts';
import { queueColumns } from './columns.ts';

/** A text that waits for a carrier. */
export interface WaitingText extends MovingText {
  lane: number;
  applicationUuid: string;
  messageUuid: string;
  /** A carrier may have it, or a part of it. */
  mayHaveLeft: boolean;
}

/** The position of a text in a carrier's queue. */
export interface QueuePosition {
  lane: number;
  applicationUuid: string;
  messageUuid: string;
}

interface WaitingRow extends Omit<WaitingText, 'id' | 'applicationId' | 'api'> {
  api: number;
}

/** Of these carriers, those with texts in the first lane, where codes are: in the queue, or due before `untilMs`. */
export async function findWithFirst(tx: Tx, carriers: readonly string[], untilMs: number): Promise<string[]> {
  if (carriers.length === 0) return [];
  const { rows } = await tx.query<{ carrier: string }>(firstStatement, [carriers, toTimestamp(untilMs)]);
  return rows.map(({ carrier }) => carrier);
}

const firstStatement = {
  name: 'find-carriers-with-first-lane',
  text: `select carrier from unnest($1::text[]) as given(carrier)
    where exists (select from delivery_queue q where q.carrier = given.carrier and q.lane = ${lanes.first})
      or exists (select from delivery_schedule s where s.carrier = given.carrier and s.due_at <= $2
        and s.lane = ${lanes.first} and s.moves = 0)`,
};

/** Reads the queued texts of one lane after a position, including those that may not move. */
export async function readQueued(
  tx: Tx,
  { carrier, lane, after, limit }: { carrier: string; lane: number; after: QueuePosition | undefined; limit: number },
): Promise<{ texts: WaitingText[]; last: QueuePosition | undefined }> {
  const { rows } = await tx.query<WaitingRow & { movable: boolean }>(queuedStatement, [
    carrier,
    lane,
    after?.applicationUuid ?? lowest,
    after?.messageUuid ?? lowest,
    limit,
  ]);
  return {
    texts: rows.filter(({ movable }) => movable).map(toText),
    last: rows.length < limit ? undefined : rows.at(-1),
  };
}

const lowest = '00000000-0000-0000-0000-000000000000';

/** Texts that were tried, or held back, and are due again soon. */
export async function readScheduled(
  tx: Tx,
  { carrier, lane, untilMs, limit }: { carrier: string; lane: number; untilMs: number; limit: number },
): Promise<WaitingText[]> {
  const { rows } = await tx.query<WaitingRow>(scheduledStatement, [carrier, lane, toTimestamp(untilMs), limit]);
  return rows.map(toText);
}

function toText({ api, applicationUuid, messageUuid, ...row }: WaitingRow): WaitingText {
  return {
    id: fromUuid('msg', messageUuid),
    applicationId: fromUuid('app', applicationUuid),
    api: nameOf(apiNames, api),
    lane: row.lane,
    applicationUuid,
    messageUuid,
    to: row.to,
    sender: row.sender,
    given: row.given ?? null,
    mayHaveLeft: row.mayHaveLeft,
  };
}

/** A carrier may have the text, or a part of it. */
const mayHaveLeft = (table: string) => `(${table}.in_doubt or ${table}.possible_duplicates > 0
        or ${table}.attempt > 0 and exists (select from text_part p where p.message_id = ${table}.message_id))`;

const textColumns = `w.lane, w.application_id as "applicationUuid", w.message_id as "messageUuid", m.api,
      m.recipient as "to", m.sender, m.route_given as given, ${mayHaveLeft('w')} as "mayHaveLeft"`;
const isQueued = `m.status in (${statusCodes(['queued', 'sent'])})`;

const queuedStatement = {
  name: 'read-queued-texts-to-move',
  text: `select ${textColumns}, w.moves = 0 and ${isQueued} as movable from (
      select * from delivery_queue where carrier = $1 and lane = $2 and (application_id, message_id) > ($3::uuid, $4::uuid)
      order by application_id, message_id limit $5) w
    join message m on m.id = w.message_id order by w.application_id, w.message_id`,
};

const scheduledStatement = {
  name: 'read-scheduled-texts-to-move',
  text: `select ${textColumns} from (
      select * from delivery_schedule where carrier = $1 and due_at <= $3 and lane = $2 and moves = 0
      order by due_at limit $4) w
    join message m on m.id = w.message_id where ${isQueued}`,
};

/** A text, and its next carrier. */
export interface Move {
  text: WaitingText;
  next: NextCarrier;
}

/**
 * Moves texts that still wait from one carrier's queue to others'. A text that a worker has claimed meanwhile stays,
 * and so does a plain text that was sent, if only in part, since it was read. Returns how many have moved. For a text
 * that was never tried, an attempt records the carrier that it was meant for.
 */
export async function moveTexts(tx: Tx, from: string, moves: Move[], nowMs: number): Promise<number> {
  if (moves.length === 0) return 0;
  const { rows } = await tx.query<{ count: number }>(moveStatement, [
    from,
    moves.map(({ text }) => text.lane),
    moves.map(({ text }) => text.applicationUuid),
    moves.map(({ text }) => text.messageUuid),
    moves.map(({ next }) => next.carrier),
    toTimestamp(nowMs),
    moves.map(({ next }) => (next.rule === null ? null : next.version)),
    moves.map(({ next }) => next.rule?.name ?? null),
    moves.map(({ text }) => text.api === 'verify'),
  ]);
  return rows[0]?.count ?? 0;
}

const entryColumns = (table: string) =>
  'lane application_id message_id attempt unanswered possible_duplicates in_doubt expires_at'
    .split(' ')
    .map((column) => `${table}.${column}`)
    .join(', ');

const moveStatement = {
  name: 'move-texts',
  text: `with chosen as (
      select * from unnest($2::smallint[], $3::uuid[], $4::uuid[], $5::text[], $7::integer[], $8::text[], $9::boolean[])
        as c(lane, application_id, message_id, carrier, route_version, route_name, is_code)),
    unqueued as (
      delete from delivery_queue q using chosen c where q.carrier = $1 and q.lane = c.lane
        and q.application_id = c.application_id and q.message_id = c.message_id and q.moves = 0 and (c.is_code or not ${mayHaveLeft('q')})
      returning ${entryColumns('q')}, c.carrier, c.route_version, c.route_name),
    unscheduled as (
      delete from delivery_schedule s using chosen c where s.carrier = $1 and s.application_id = c.application_id
        and s.message_id = c.message_id and s.moves = 0 and (c.is_code or not ${mayHaveLeft('s')})
      returning ${entryColumns('s')}, c.carrier, c.route_version, c.route_name),
    gone as (select * from unqueued union all select * from unscheduled),
    queued as (
      insert into delivery_queue (${queueColumns})
      select carrier, lane, application_id, message_id, greatest(attempt, 1), unanswered, possible_duplicates, in_doubt, 1,
        expires_at from gone),
    noted as (
      update message m set carrier = g.carrier, attempt = greatest(g.attempt, 1)
      from gone g where m.id = g.message_id and m.id = any($4::uuid[])),
    kept as (
      insert into text_attempt (message_id, attempt, carrier, submitted_at, outcome, error_code, moved_to, route_version,
        route_name)
      select message_id, greatest(attempt, 1), $1, $6, ${attemptOutcomes.indexOf('unavailable')},
        ${errorCodeOf('carrier_unavailable')}, carrier, route_version, route_name
      from gone on conflict (message_id, attempt) do update set moved_to = excluded.moved_to,
        route_version = excluded.route_version, route_name = excluded.route_name),
    forgotten as (delete from text_part p using gone g where p.message_id = g.message_id and g.attempt > 0)
    select count(*)::integer as count from gone`,
};

/** How many bulk texts of a route may move now, at most `wanted`: all nodes share the rate. Holds the row until the commit. */
export async function takeBulkMoves(
  tx: Tx,
  { route, perMinute, wanted, nowMs }: { route: string; perMinute: number; wanted: number; nowMs: number },
): Promise<number> {
  const stepMs = 60_000 / perMinute;
  // Unused moves add up to at most the moves of one second, or to one move.
  const leastMs = nowMs - Math.max(1000, stepMs);
  await tx.query('insert into bulk_failover (route, used_until) values ($1, $2) on conflict do nothing', [
    route,
    toTimestamp(leastMs),
  ]);
  const { rows } = await tx.query<{ usedUntilMs: number }>(
    'select used_until as "usedUntilMs" from bulk_failover where route = $1 for update',
    [route],
  );
  const fromMs = Math.max(leastMs, rows[0]?.usedUntilMs ?? nowMs);
  const count = Math.min(wanted, Math.floor((nowMs - fromMs) / stepMs + 1e-6));
  if (count > 0)
    await tx.query('update bulk_failover set used_until = $2 where route = $1', [
      route,
      new Date(fromMs + count * stepMs),
    ]);
  return Math.max(0, count);
}

/** Deletes the rows of routes that were not used for a day. */
export async function deleteOldBulkMoves(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(`delete from bulk_failover where used_until < $1::timestamptz - interval '1 day'`, [
    toTimestamp(nowMs),
  ]);
  return count;
}
