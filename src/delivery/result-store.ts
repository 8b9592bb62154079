import { unsentStatuses } from '../messages/message.ts';
import { changedColumns, insertMessageEvents } from '../messages/message-events.ts';
import { errorCodeOf, statusCode, statusCodes, toUuidRange } from '../messages/message-row.ts';
import { insertEnds, isInRange } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { entryParameters, entryRows, queueColumns } from './claim-store.ts';
import { partInserts } from './part-store.ts';
import type { EndedText, QueueEntry, ScheduledText } from './queue-entry.ts';
import { attemptOutcomes } from './text-attempt.ts';
import { attemptInserts } from './text-attempt-store.ts';

export interface ClaimResults {
  /** The carrier that gave the answers. */
  carrier: string;
  /** The account that receipts for these texts will name, if they name them by the carrier's ids only. */
  account: string | undefined;
  ended: EndedText[];
  again: ScheduledText[];
  nowMs: number;
}

/**
 * Records results of a claim in one statement. The claim is closed, or keeps the texts that the carrier still has. It
 * changes nothing if the claim was released because its lease had run out, and no text that a receipt has settled
 * meanwhile.
 */
export async function recordClaim(
  tx: Tx,
  claimId: number,
  results: ClaimResults,
  remaining: QueueEntry[] = [],
): Promise<void> {
  const { ended, again } = results;
  const values: unknown[] = [claimId];
  const parts = [`open as (${remaining.length === 0 ? closeSql : keepSql(remaining, values)} returning id)`];
  if (ended.length > 0 || again.length > 0) {
    const isOpen = 'exists (select from open)';
    parts.push(...recordParts(results, values, isOpen));
    if (again.length > 0) parts.push(...scheduleParts(results, values));
    parts.push(...attemptInserts(attemptsIn(results), values, isOpen));
  }
  await tx.query(`with ${parts.join(',\n')} select`, values);
}

const closeSql = 'delete from delivery_claim where id = $1';

function keepSql(remaining: QueueEntry[], values: unknown[]): string {
  const set = (column: string, type: string, read: (entry: QueueEntry) => unknown) =>
    `${column} = $${values.push(remaining.map(read))}::${type}[]`;
  return `update delivery_claim set ${[
    set('lanes', 'smallint', ({ lane }) => lane),
    set('application_ids', 'uuid', ({ applicationId }) => applicationId),
    set('message_ids', 'uuid', ({ messageId }) => messageId),
    set('attempts', 'integer', ({ attempt }) => attempt),
    set('unanswered', 'smallint', ({ unanswered }) => unanswered),
    set('possible_duplicates', 'smallint', ({ possibleDuplicates }) => possibleDuplicates),
    set('in_doubt', 'boolean', ({ inDoubt }) => inDoubt),
    set('moves', 'smallint', ({ moves }) => moves),
  ].join(', ')} where id = $1`;
}

function attemptsIn({ ended, again }: Pick<ClaimResults, 'ended' | 'again'>) {
  return [...ended, ...again].map(({ attempt }) => attempt);
}

/**
 * Records answers that came after the claim was closed. They settle texts that have not been sent again; the id of one
 * that has been is kept, since its receipt may be the first to come. The caller's transaction keeps a text from leaving
 * the queue without its record.
 */
export async function recordLateAnswers(tx: Tx, results: ClaimResults): Promise<void> {
  const { ended, carrier } = results;
  // A text without a usable answer stays as it is.
  const again = results.again.filter(({ entry }) => !entry.inDoubt);
  const settled = ended.length === 0 ? [] : await removeDoubt(tx, ended);
  const values: unknown[] = [];
  const parts = recordParts({ ...results, ended: settled, again }, values, 'true', carrier);
  parts.push(...attemptInserts(attemptsIn({ ended, again }), values, 'true'));
  parts.push(...lateKeys(results, settled, values));
  if (parts.length > 0) await tx.query(`with ${parts.join(',\n')} select`, values);
  if (again.length > 0) {
    const dueAt = again.map(({ dueAtMs }) => toTimestamp(dueAtMs));
    await tx.query(settleDoubtStatement, [...attemptsOf(again), dueAt]);
  }
}

/** What receipts will call texts that went on before this answer came: a delivery counts, whichever carrier tells it. */
function lateKeys({ ended, account, nowMs }: ClaimResults, settled: EndedText[], values: unknown[]): string[] {
  const accepted = ended.filter(({ status }) => status === 'sent');
  if (accepted.length === 0) return [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const noted = `noted_late as (
      update text_attempt t set outcome = ${attemptOutcomes.indexOf('accepted')}, carrier_message_id = l.carrier_message_id
      from unnest(${bind(idsOf(accepted))}::uuid[], ${bind(accepted.map(({ entry }) => entry.attempt))}::integer[],
        ${bind(accepted.map(({ carrierMessageId }) => carrierMessageId))}::text[]) as l(message_id, attempt, carrier_message_id)
      where t.message_id = l.message_id and t.attempt = l.attempt)`;
  const gone = accepted.filter((text) => !settled.includes(text) && text.long === undefined);
  if (account === undefined || gone.length === 0) return [noted];
  const known = `known_late as (
      insert into sent_text (account, receipt_key, message_id, sent_at)
      select ${bind(account)}, receipt_key, message_id, ${bind(toTimestamp(nowMs))}::timestamptz
      from unnest(${bind(gone.map(({ receiptKey }) => receiptKey))}::text[], ${bind(idsOf(gone))}::uuid[])
        as l(receipt_key, message_id)
      on conflict do nothing)`;
  return [noted, known];
}

/** Returns the texts that were still in doubt. */
async function removeDoubt(tx: Tx, ended: EndedText[]): Promise<EndedText[]> {
  // A refusal says nothing of a text that another carrier has now; an acceptance makes that copy needless.
  const moves = ended.map(({ status, entry }) => (status === 'sent' ? null : entry.moves));
  const { rows } = await tx.query<{ id: string }>(removeDoubtStatement, [...attemptsOf(ended), moves]);
  const removed = new Set(rows.map(({ id }) => id));
  return ended.filter(({ entry }) => removed.has(entry.messageId));
}

function attemptsOf(texts: { entry: QueueEntry }[]): unknown[] {
  return [
    texts.map(({ entry }) => entry.applicationId),
    texts.map(({ entry }) => entry.messageId),
    texts.map(({ entry }) => entry.attempt),
  ];
}

const attempts = `unnest($1::uuid[], $2::uuid[], $3::integer[], $4::smallint[])
        as a(application_id, message_id, attempt, moves)`;
const isDoubt = (table: string) => `${table}.application_id = a.application_id and ${table}.message_id = a.message_id
      and ${table}.attempt = a.attempt and ${table}.in_doubt`;
const isRemovable = (table: string) => `${isDoubt(table)} and (a.moves is null or ${table}.moves = a.moves)`;

/** A text in doubt is in the queue or the schedule, under the attempt that is answered. */
const removeDoubtStatement = `with unqueued as (
      delete from delivery_queue q using ${attempts} where ${isRemovable('q')} returning q.message_id),
    unscheduled as (
      delete from delivery_schedule s using ${attempts} where ${isRemovable('s')} returning s.message_id)
    select message_id as id from unqueued union all select message_id from unscheduled`;

/** The carrier did not take the text, so it is no longer in doubt, and waits as long as the carrier wants. */
const settleDoubtStatement = `with settled as (
      update delivery_schedule s set in_doubt = false, due_at = a.due_at
      from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[])
        as a(application_id, message_id, attempt, due_at)
      where ${isDoubt('s')} returning s.message_id, s.attempt, s.possible_duplicates)
    update message m set attempt = settled.attempt, possible_duplicates = settled.possible_duplicates
    from settled where m.id = settled.message_id and m.id = any($2::uuid[])`;

/**
 * Updates the records: one update for all texts with the same result, so that Postgres looks up a list of ids and joins
 * nothing. Only the carrier's ids differ.
 */
function recordParts(
  { ended, again, account, nowMs }: ClaimResults,
  values: unknown[],
  condition: string,
  /** Set where the text may have been given to another carrier meanwhile. */
  carrier?: string,
): string[] {
  const long = [...ended, ...again].filter((text) => text.long !== undefined);
  // Postgres rejects a parameter that no part uses.
  if (ended.length === 0 && long.length === 0) return [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const bindIds = (uuids: string[]) => isInRange(values.push(...toUuidRange(uuids)) - 2);
  let parameter: string | undefined;
  const nowParameter = () => {
    parameter ??= `${bind(toTimestamp(nowMs))}::timestamptz`;
    return parameter;
  };
  const recorded = groupBy(ended, resultOf).flatMap((group, place) => {
    const [{ entry, status, error, wasSent, attempt }] = group;
    const sent = status === 'sent';
    const end = wasSent && attempt === undefined && !sent ? earlierEnd : undefined;
    const from = wasSent ? statusCode('sent') : statusCodes(unsentStatuses);
    const parts = [
      `recorded_${place} as (
        update message set status = ${end?.status ?? statusCode(status)},
          error_code = ${end?.error ?? `${bind(errorCodeOf(error))}::smallint`},
          attempt = ${bind(entry.attempt)}, possible_duplicates = ${bind(entry.possibleDuplicates)}, updated_at = ${nowParameter()},
          sequence = sequence + ${sent && wasSent ? 0 : 1}${carrier === undefined ? '' : `, carrier = ${bind(carrier)}`}${
            sent ? `, sent_at = ${nowParameter()}, carrier_message_id = ${carrierIdSql(group, bind)}` : ''
          }
        where ${bindIds(idsOf(group))} and ${condition} and status in (${from})
        returning ${changedColumns()})`,
    ];
    if (!sent) parts.push(`bad_end_${place} as (${insertEnds(`recorded_${place}`)})`);
    // A text that was sent before, by another carrier, enters no state.
    if (!(sent && wasSent)) parts.push(`told_${place} as (${insertMessageEvents(`recorded_${place}`)})`);
    const named = sent && account !== undefined ? group.filter((text) => text.long === undefined) : [];
    if (named.length > 0)
      parts.push(`known_${place} as (
        insert into sent_text (account, receipt_key, message_id, sent_at)
        select ${bind(account)}, receipt_key, message_id, ${nowParameter()}
        from unnest(${bind(named.map(({ receiptKey }) => receiptKey))}::text[], ${bind(idsOf(named))}::uuid[])
          as k(receipt_key, message_id)
        where exists (select from recorded_${place} r where r.id = k.message_id) on conflict do nothing)`);
    return parts;
  });
  return [...recorded, ...partInserts(long, { account, nowParameter, condition }, values)];
}

function resultOf({ entry, status, error, wasSent, attempt }: EndedText): string {
  const earlier = wasSent ? `after ${attempt === undefined}` : '';
  return `${status} ${error} ${entry.attempt} ${entry.possibleDuplicates} ${earlier}`;
}

/** A text that a first carrier has sent in vain, and that no second one was given, ends as the first one reported. */
const earlierEnd = {
  status: `coalesce(${ofEarlierAttempt('receipt')}, ${statusCode('undelivered')})`,
  error: ofEarlierAttempt('error_code'),
};

function ofEarlierAttempt(column: string): string {
  return `(select t.${column} from text_attempt t where t.message_id = message.id and t.receipt is not null
          order by t.attempt desc limit 1)`;
}

function carrierIdSql(group: EndedText[], bind: (value: unknown) => string): string {
  const [first] = group;
  if (group.every(({ carrierMessageId }) => carrierMessageId === first?.carrierMessageId))
    return bind(first?.carrierMessageId);
  const ids = group.map(({ entry, carrierMessageId }) => [entry.messageId, carrierMessageId]);
  return `${bind(JSON.stringify(Object.fromEntries(ids)))}::jsonb ->> id::text`;
}

/** Groups are never empty. */
function groupBy<Item>(items: Item[], keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function scheduleParts({ again }: ClaimResults, values: unknown[]): string[] {
  const first = values.length + 1;
  values.push(...entryParameters(again));
  const ids = first + 3;
  const wanted = 'again join noted on noted.id = message_id';
  const parts = [
    `again as (select * from ${entryRows(first)})`,
    // A text that a receipt has settled meanwhile is not sent again.
    `noted as (
      update message m set attempt = a.attempt, possible_duplicates = a.possible_duplicates, carrier = a.carrier
      from again a cross join open
      where m.id = a.message_id and m.id = any($${ids}::uuid[]) and m.status in (${statusCodes([...unsentStatuses, 'sent'])})
      returning m.id)`,
  ];
  const moved = again.filter(({ isMoved }) => isMoved);
  if (moved.length < again.length) {
    const others = moved.length === 0 ? '' : `where message_id <> all($${values.push(idsOf(moved))}::uuid[])`;
    parts.push(`scheduled as (
      insert into delivery_schedule (${queueColumns}, due_at) select ${queueColumns}, due_at from ${wanted} ${others}
      on conflict do nothing)`);
  }
  // A text that moves waits for nothing. Its next carrier sends all parts.
  if (moved.length > 0) {
    const isMoved = `any($${values.push(idsOf(moved))}::uuid[])`;
    parts.push(
      `moved as (
      insert into delivery_queue (${queueColumns}) select ${queueColumns} from ${wanted} where message_id = ${isMoved}
      on conflict do nothing)`,
      `forgotten as (delete from text_part where message_id = ${isMoved} and exists (select from open))`,
    );
  }
  return parts;
}

function idsOf(texts: { entry: QueueEntry }[]): string[] {
  return texts.map(({ entry }) => entry.messageId);
}
