import type { AcceptedTexts } from '../messages/accepted-texts.ts';
import { lanes } from '../messages/message-queue.ts';
import { findTextsToSend } from '../messages/text-to-send.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Statement, Tx } from '../platform/database.ts';
import { fromUuid } from '../platform/ids.ts';
import { actionFor, submittedEntry } from './attempt-result.ts';
import type { Capacity } from './carrier.ts';
import { findParts } from './part-store.ts';
import { type Claim, type ClaimedText, isUnsettled, type QueueEntry, type ScheduledText } from './queue-entry.ts';
import { schedule } from './schedule-store.ts';

export interface ClaimOptions {
  carrier: string;
  nowMs: number;
  leaseMs: number;
  /** The most texts, if they are of this lane. */
  limits: Capacity;
}

/** So many applications share a batch at most; the next ones have their turn in the next batch. */
const applicationsPerClaim = 32;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** Takes texts from one carrier's queue: the first lane first, and in each lane the applications in turn. */
export function createClaims(
  database: Database,
  accepted?: AcceptedTexts,
): (options: ClaimOptions) => Promise<Claim | undefined> {
  /** For each lane, the application that had the last turn. */
  const served = { [lanes.first]: beforeAll, [lanes.bulk]: beforeAll };
  let claims = 0;

  async function claimAfter(
    positions: string[],
    { carrier, nowMs, leaseMs, limits }: ClaimOptions,
  ): Promise<ClaimRow | undefined> {
    // A claim is of one lane. The first lane comes first, but a flood in it leaves every fifth claim to the others.
    const statement = claims % 5 === 0 ? claimLastLane : claimFirstLane;
    const times = [toTimestamp(nowMs), toTimestamp(nowMs + leaseMs)];
    const { first, bulk } = limits;
    const { rows } = await database.query<ClaimRow>(statement, [carrier, first, bulk, ...times, ...positions]);
    return rows[0];
  }

  return async (options) => {
    claims++;
    const positions = [served[lanes.first], served[lanes.bulk]];
    let row = await claimAfter(positions, options);
    const wrapped = row === undefined && positions.some((position) => position !== beforeAll);
    if (wrapped) row = await claimAfter([beforeAll, beforeAll], options);
    if (row === undefined) return undefined;
    const entries = readEntries(row);
    const lane = entries[0]?.lane === lanes.first ? lanes.first : lanes.bulk;
    const applications = new Set(entries.map(({ applicationId }) => applicationId));
    const limit = lane === lanes.first ? options.limits.first : options.limits.bulk;
    const wasLastTurn = applications.size < Math.min(applicationsPerClaim, limit);
    served[lane] = wasLastTurn ? beforeAll : (entries.at(-1)?.applicationId ?? beforeAll);
    return { id: row.claimId, texts: await withMessages(database, entries, accepted), optOuts: row.optOuts };
  };
}

/** A claim as it was written, each column as Postgres writes an array: `{0,0,1}`. */
interface ClaimRow {
  claimId: number;
  optOuts: boolean;
  lanes: string;
  applicationIds: string;
  messageIds: string;
  attempts: string;
  unanswered: string;
  possibleDuplicates: string;
  inDoubt: string;
  moves: string;
}

/** One row for all texts: the client takes microseconds for each value of a row. */
function readEntries(row: ClaimRow): QueueEntry[] {
  const lane = readArray(row.lanes);
  const applicationId = readArray(row.applicationIds);
  const attempt = readArray(row.attempts);
  const unanswered = readArray(row.unanswered);
  const possibleDuplicates = readArray(row.possibleDuplicates);
  const inDoubt = readArray(row.inDoubt);
  const moves = readArray(row.moves);
  return readArray(row.messageIds).map((messageId, place) => ({
    lane: Number(lane[place]),
    applicationId: applicationId[place] ?? '',
    messageId,
    attempt: Number(attempt[place]),
    unanswered: Number(unanswered[place]),
    possibleDuplicates: Number(possibleDuplicates[place]),
    inDoubt: inDoubt[place] === 't',
    moves: Number(moves[place]),
  }));
}

/** Of numbers, booleans or uuids, which Postgres never quotes. */
function readArray(text: string): string[] {
  return text.slice(1, -1).split(',');
}

const noParts = { parts: [], form: null };

async function withMessages(tx: Tx, entries: QueueEntry[], accepted?: AcceptedTexts): Promise<ClaimedText[]> {
  // A text that was tried or moved may have changed since it was accepted.
  const known = entries.map(({ messageId, attempt, moves }) =>
    attempt === 0 && moves === 0 ? accepted?.take(fromUuid('msg', messageId)) : undefined,
  );
  const read = await findTextsToSend(
    tx,
    entries.filter((_, place) => known[place] === undefined).map(({ messageId }) => messageId),
  );
  // Whatever a text was measured as, the carrier's charset may have split it.
  const parts = await findParts(
    tx,
    entries.filter(({ attempt }) => attempt > 0),
  );
  const texts: ClaimedText[] = [];
  for (const [place, entry] of entries.entries()) {
    const message = known[place] ?? read.get(entry.messageId);
    const sent = parts.size === 0 ? noParts : (parts.get(entry.messageId) ?? noParts);
    if (message !== undefined) texts.push({ message, entry, parts: sent.parts, form: sent.form });
  }
  return texts;
}

/** Asked in the claim, not of memory: no text that is accepted after a pause was answered leaves before the resume. */
const isPaused = `exists (select from carrier c
  where c.name = split_part($1, '#', 1) and c.name || '#' || c.id = $1 and c.deleted_at is null and c.paused)`;

/**
 * Finds the lane and its next applications with one index lookup each, takes an equal share of each, and writes the batch
 * to the journal. Nothing else hides the texts from other workers: they have left the queue.
 */
const claimStatement = (order: 'asc' | 'desc') => `with recursive first as materialized (
      select lane, case lane when ${lanes.first} then $6::uuid else $7::uuid end as served,
        case lane when ${lanes.first} then $2::integer else $3::integer end as most
      from delivery_queue where carrier = $1 and (lane <> ${lanes.first} or $2 > 0) and (lane <> ${lanes.bulk} or $3 > 0)
        and not ${isPaused}
      order by lane ${order} limit 1),
    turn(application_id, place) as (
      (select application_id, 1 from delivery_queue
        where carrier = $1 and lane = (select lane from first) and application_id > (select served from first)
        order by application_id limit 1)
      union all
      select (select q.application_id from delivery_queue q
          where q.carrier = $1 and q.lane = (select lane from first) and q.application_id > turn.application_id
          order by q.application_id limit 1), place + 1
      from turn where application_id is not null and place < least((select most from first), ${applicationsPerClaim})),
    share as (select (select most from first) / greatest(1, count(application_id)) as size from turn),
    due as materialized (
      select q.* from turn cross join share cross join lateral (
        select ctid as place_in_queue, * from delivery_queue
        where carrier = $1 and lane = (select lane from first) and application_id = turn.application_id
        order by message_id limit share.size for update skip locked) q
      limit (select most from first)),
    taken as (delete from delivery_queue where ctid = any(array(select place_in_queue from due))),
    claimed as (
      insert into delivery_claim (carrier, claimed_at, leased_until, lanes, application_ids, message_ids, attempts,
        unanswered, possible_duplicates, in_doubt, moves)
      select $1, $4, $5, array_agg(lane), array_agg(application_id), array_agg(message_id), array_agg(attempt),
        array_agg(unanswered), array_agg(possible_duplicates), array_agg(in_doubt), array_agg(moves)
      from due having count(*) > 0
      returning *)
    select id as "claimId", exists (select from opt_out) as "optOuts", lanes::text, application_ids::text as "applicationIds",
      message_ids::text as "messageIds", attempts::text, unanswered::text, possible_duplicates::text as "possibleDuplicates",
      in_doubt::text as "inDoubt", moves::text
    from claimed`;

const claimFirstLane: Statement = { name: 'claim-first-lane', text: claimStatement('asc'), planOnce: true };
const claimLastLane: Statement = { name: 'claim-last-lane', text: claimStatement('desc'), planOnce: true };

export interface ReleaseOptions {
  carrier: string;
  nowMs: number;
  atMostOnce: boolean;
  /** How long a plain text in doubt waits for a receipt. */
  doubtAfterMs?: number | undefined;
  all: boolean;
}

/**
 * Puts texts back of which a dead worker may have sent some: claims whose lease has run out, or all claims when this
 * node is alone and has just started. A text that the worker was not going to send stays as it was.
 */
export async function releaseClaims(
  database: Database,
  { carrier, nowMs, atMostOnce, doubtAfterMs = 0, all }: ReleaseOptions,
): Promise<number> {
  const values = [carrier, all ? 'infinity' : toTimestamp(nowMs)];
  // Most looks find nothing, and need no transaction.
  const { rows: looks } = await database.query<{ over: boolean }>(isAnyOver, values);
  if (looks[0]?.over !== true) return 0;
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<QueueEntry & { claimedAtMs: number }>(releaseStatement, values);
    const claimedAtMs = new Map(rows.map((row) => [row.messageId, row.claimedAtMs]));
    const texts = await withMessages(tx, rows);
    const released = texts.filter(isUnsettled).map((text): ScheduledText => {
      const claimedMs = claimedAtMs.get(text.entry.messageId) ?? nowMs;
      const inDoubt = actionFor(text, { nowMs: claimedMs, atMostOnce }) === 'submit';
      const entry = inDoubt ? { ...submittedEntry(text.entry), inDoubt } : text.entry;
      const waitMs = inDoubt && text.message.api !== 'verify' ? doubtAfterMs : 0;
      const dueAtMs = Math.max(nowMs, Math.min(claimedMs + waitMs, text.message.expiresAtMs));
      return { entry, carrier, dueAtMs, long: undefined, attempt: undefined };
    });
    await schedule(tx, released);
    return released.length;
  });
}

const isAnyOver = {
  name: 'is-any-claim-over',
  text: 'select exists (select from delivery_claim where carrier = $1 and leased_until <= $2) as over',
};
const entryColumns = `lane, application_id as "applicationId", message_id as "messageId", attempt, unanswered,
  possible_duplicates as "possibleDuplicates", in_doubt as "inDoubt", moves`;
const releaseStatement = `with gone as (
      delete from delivery_claim where carrier = $1 and leased_until <= $2
      returning claimed_at, lanes, application_ids, message_ids, attempts, unanswered as silences,
        possible_duplicates as duplicates, in_doubt as doubts, moves as moved)
    select claimed_at as "claimedAtMs", ${entryColumns} from gone cross join lateral
      unnest(lanes, application_ids, message_ids, attempts, silences, duplicates, doubts, moved)
        as t(lane, application_id, message_id, attempt, unanswered, possible_duplicates, in_doubt, moves)`;
