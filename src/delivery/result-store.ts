import { unsentStatuses } from '../messages/message.ts';
import { errorCodeOf, statusCode, statusCodes, toUuidRange } from '../messages/message-row.ts';
import { insertEnds, isInRange } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { entryParameters, entryRows, queueColumns } from './claim-store.ts';
import { partInserts } from './part-store.ts';
import type { EndedText, QueueEntry, ScheduledText } from './queue-entry.ts';

export interface ClaimResults {
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
    parts.push(...recordParts(results, values, 'exists (select from open)'));
    if (again.length > 0) parts.push(...scheduleParts(results, values));
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

/**
 * Records answers that came after the claim was closed, for texts that have not been sent again. The caller's
 * transaction keeps a text from leaving the queue without its record.
 */
export async function recordLateAnswers(tx: Tx, results: ClaimResults): Promise<void> {
  const { ended } = results;
  // A text without a usable answer stays as it is.
  const again = results.again.filter(({ entry }) => !entry.inDoubt);
  const settled = ended.length === 0 ? [] : await removeDoubt(tx, ended);
  const values: unknown[] = [];
  const parts = recordParts({ ...results, ended: settled, again }, values, 'true');
  if (parts.length > 0) await tx.query(`with ${parts.join(',\n')} select`, values);
  if (again.length > 0) {
    const dueAt = again.map(({ dueAtMs }) => toTimestamp(dueAtMs));
    await tx.query(settleDoubtStatement, [...attemptsOf(again), dueAt]);
  }
}

/** Returns the texts that were still in doubt. */
async function removeDoubt(tx: Tx, ended: EndedText[]): Promise<EndedText[]> {
  const { rows } = await tx.query<{ id: string }>(removeDoubtStatement, attemptsOf(ended));
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

const attempts = 'unnest($1::uuid[], $2::uuid[], $3::integer[]) as a(application_id, message_id, attempt)';
const isDoubt = (table: string) => `${table}.application_id = a.application_id and ${table}.message_id = a.message_id
      and ${table}.attempt = a.attempt and ${table}.in_doubt`;

/** A text in doubt is in the queue or the schedule, under the attempt that is answered. */
const removeDoubtStatement = `with unqueued as (
      delete from delivery_queue q using ${attempts} where ${isDoubt('q')} returning q.message_id),
    unscheduled as (
      delete from delivery_schedule s using ${attempts} where ${isDoubt('s')} returning s.message_id)
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
function recordParts({ ended, again, account, nowMs }: ClaimResults, values: unknown[], condition: string): string[] {
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
    const [{ entry, status, error }] = group;
    const sent = status === 'sent';
    const parts = [
      `recorded_${place} as (
        update message set status = ${statusCode(status)}, error_code = ${bind(errorCodeOf(error))}::smallint,
          attempt = ${bind(entry.attempt)}, possible_duplicates = ${bind(entry.possibleDuplicates)}, updated_at = ${nowParameter()},
          sequence = sequence + 1${sent ? `, sent_at = ${nowParameter()}, carrier_message_id = ${carrierIdSql(group, bind)}` : ''}
        where ${bindIds(idsOf(group))} and ${condition} and status in (${statusCodes(unsentStatuses)})
        returning id, application_id as "applicationId", api, status)`,
    ];
    if (!sent) parts.push(`bad_end_${place} as (${insertEnds(`recorded_${place}`)})`);
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

function resultOf({ entry, status, error }: EndedText): string {
  return `${status} ${error} ${entry.attempt} ${entry.possibleDuplicates}`;
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
  return [
    `again as (select * from ${entryRows(first)})`,
    // A text that a receipt has settled meanwhile is not sent again.
    `noted as (
      update message m set attempt = a.attempt, possible_duplicates = a.possible_duplicates, carrier = a.carrier
      from again a cross join open
      where m.id = a.message_id and m.id = any($${ids}::uuid[]) and m.status in (${statusCodes(unsentStatuses)})
      returning m.id)`,
    `scheduled as (
      insert into delivery_schedule (${queueColumns}, due_at)
      select ${queueColumns}, due_at from again join noted on noted.id = message_id
      on conflict do nothing)`,
  ];
}

function idsOf(texts: { entry: QueueEntry }[]): string[] {
  return texts.map(({ entry }) => entry.messageId);
}
