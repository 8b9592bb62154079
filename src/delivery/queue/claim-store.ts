import { unsentStatuses } from '../../messages/message.ts';
import { lanes } from '../../messages/message-queue.ts';
import { statusCodes } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import type { Database, Statement, Tx } from '../../platform/database/database.ts';
import type { Claim, QueueEntry } from '../attempts/queued-text.ts';
import type { Capacity } from '../carrier/carrier.ts';
import { withMessages } from './claimed-texts.ts';
import { claimArrays, claimEntries, entryColumns, entryColumnsOf, queueColumns } from './columns.ts';

export interface ClaimOptions {
  carrier: string;
  /** Made anew for each claim: `giveBackClaim` finds the claim by it, whether or not its answer came. */
  token?: string;
  nowMs: number;
  leaseMs: number;
  /** Maximum number of texts, by lane. */
  limits: Capacity;
}

/** Maximum number of applications in a batch; the others follow in the next batch. */
const applicationsPerClaim = 32;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** A name for a claim, in a form that Postgres reads as a uuid. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** Takes texts from one carrier's queue: the first lane first, and in each lane the applications in turn. */
export function createClaims(database: Database): (options: ClaimOptions) => Promise<Claim | undefined> {
  /** For each lane, the application that had the last turn. */
  const served = { [lanes.first]: beforeAll, [lanes.bulk]: beforeAll };
  let claims = 0;

  async function claimAfter(
    positions: string[],
    { carrier, token = newToken(), nowMs, leaseMs, limits }: ClaimOptions,
  ): Promise<ClaimRow | undefined> {
    // A claim takes texts of one lane. Four of five claims prefer the first lane; the fifth prefers the bulk lane, so that
    // many texts in the first lane cannot block it.
    const statement = claims % 5 === 0 ? claimLastLane : claimFirstLane;
    const { first, bulk } = limits;
    const values = [carrier, first, bulk, toTimestamp(nowMs), leaseMs, ...positions, token];
    const { rows } = await database.query<ClaimRow>(statement, values);
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
    const texts = await withMessages(database, entries);
    return { id: row.claimId, revision: 0, claimedAtMs: options.nowMs, texts, optOuts: row.optOuts };
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
  return readArray(row.messageIds).map((messageId, index) => ({
    lane: Number(lane[index]),
    applicationId: applicationId[index] ?? '',
    messageId,
    attempt: Number(attempt[index]),
    unanswered: Number(unanswered[index]),
    possibleDuplicates: Number(possibleDuplicates[index]),
    inDoubt: inDoubt[index] === 't',
    moves: Number(moves[index]),
  }));
}

/** Reads an array of numbers, booleans or uuids, which Postgres never quotes. */
function readArray(text: string): string[] {
  return text.slice(1, -1).split(',');
}

/** Read by the claim itself, so that a text accepted after the pause was acknowledged cannot leave before the resume. */
const isPaused = `exists (select from carrier c
  where c.name = split_part($1, '#', 1) and c.name || '#' || c.id = $1 and c.deleted_at is null and c.paused)`;

/**
 * Finds the lane and its next applications with one index lookup each, takes an equal share of each, and writes the
 * batch to the journal. Other workers cannot see the texts, because they have left the queue. The lease uses the clock
 * of Postgres.
 */
const claimStatement = (order: 'asc' | 'desc') => `with recursive first as materialized (
      select l.lane, l.served, l.most
      from (values (${lanes.first}, $6::uuid, $2::integer), (${lanes.bulk}, $7::uuid, $3::integer)) as l(lane, served, most)
      cross join lateral (
        select from delivery_queue q where l.most > 0 and q.carrier = $1 and q.lane = l.lane limit 1) waiting
      where not ${isPaused}
      order by l.lane ${order} limit 1),
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
      insert into delivery_claim (carrier, token, claimed_at, leased_until, lanes, application_ids, message_ids, attempts,
        unanswered, possible_duplicates, in_doubt, moves)
      select $1, $8::uuid, $4, clock_timestamp() + $5::float8 * interval '1 millisecond', array_agg(lane),
        array_agg(application_id), array_agg(message_id), array_agg(attempt), array_agg(unanswered),
        array_agg(possible_duplicates), array_agg(in_doubt), array_agg(moves)
      from due having count(*) > 0
      returning *)
    select id as "claimId", exists (select from opt_out) as "optOuts", lanes::text, application_ids::text as "applicationIds",
      message_ids::text as "messageIds", attempts::text, unanswered::text, possible_duplicates::text as "possibleDuplicates",
      in_doubt::text as "inDoubt", moves::text
    from claimed`;

const claimFirstLane: Statement = { name: 'claim-first-lane', text: claimStatement('asc'), planOnce: true };
const claimLastLane: Statement = { name: 'claim-last-lane', text: claimStatement('desc'), planOnce: true };

/**
 * Requeues the texts of a claim unchanged: its worker submitted none, because the answer was lost or the texts could
 * not be read. Returns whether there is such a claim.
 */
export async function giveBackClaim(tx: Tx, token: string): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(giveBackStatement, [token]);
  return rows[0]?.found === true;
}

/** A text that a receipt has settled meanwhile needs no further work. */
const giveBackStatement = `with gone as (
      delete from delivery_claim where token = $1 returning carrier, ${claimArrays}),
    entry as (select carrier, ${entryColumns} from gone cross join lateral ${claimEntries}),
    queued as (
      insert into delivery_queue (${queueColumns})
      select e.carrier, ${entryColumnsOf('e')}, m.expires_at from entry e join message m on m.id = e.message_id
      where m.status in (${statusCodes([...unsentStatuses, 'sent'])}))
    select exists (select from gone) as found`;
