import { unsentStatuses } from '../../messages/message.ts';
import { statusCodes } from '../../messages/message-row.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { OpenClaim, QueueEntry } from '../attempts/queued-text.ts';
import { attemptInserts } from '../attempts/store.ts';
import { entryColumns, queueColumns } from './columns.ts';
import { attemptsIn, type ClaimResults, idsOf, recordParts } from './result-statement.ts';
import { entryParameters, entryRows } from './schedule-store.ts';

/**
 * Records results of a claim in one statement, which closes the claim or keeps the texts that the carrier still has. It
 * changes nothing if the claim was released, or if it committed before; and no text that a receipt has settled.
 */
export async function recordClaim(
  tx: Tx,
  { id, revision }: OpenClaim,
  results: ClaimResults,
  remaining: QueueEntry[] = [],
): Promise<void> {
  const { ended, again } = results;
  const values: unknown[] = [id, revision];
  const parts = [`open as (${remaining.length === 0 ? closeSql : keepSql(remaining, values)} returning id)`];
  if (ended.length > 0 || again.length > 0) {
    const isOpen = 'exists (select from open)';
    parts.push(...recordParts(results, values, isOpen));
    if (again.length > 0) parts.push(...scheduleParts(results, values));
    parts.push(...attemptInserts(attemptsIn(results), values, isOpen));
  }
  await tx.query(`with ${parts.join(',\n')} select`, values);
}

const isSeen = 'id = $1 and revision = $2';
const closeSql = `delete from delivery_claim where ${isSeen}`;

function keepSql(remaining: QueueEntry[], values: unknown[]): string {
  const set = (column: string, type: string, read: (entry: QueueEntry) => unknown) =>
    `${column} = $${values.push(remaining.map(read))}::${type}[]`;
  return `update delivery_claim set ${[
    'revision = revision + 1',
    set('lanes', 'smallint', ({ lane }) => lane),
    set('application_ids', 'uuid', ({ applicationId }) => applicationId),
    set('message_ids', 'uuid', ({ messageId }) => messageId),
    set('attempts', 'integer', ({ attempt }) => attempt),
    set('unanswered', 'smallint', ({ unanswered }) => unanswered),
    set('possible_duplicates', 'smallint', ({ possibleDuplicates }) => possibleDuplicates),
    set('in_doubt', 'boolean', ({ inDoubt }) => inDoubt),
    set('moves', 'smallint', ({ moves }) => moves),
  ].join(', ')} where ${isSeen}`;
}

function scheduleParts({ again }: ClaimResults, values: unknown[]): string[] {
  const first = values.length + 1;
  values.push(...entryParameters(again));
  const ids = first + 3;
  const wanted = 'again join noted on noted.id = message_id';
  const columns = `carrier, ${entryColumns}, noted.expires_at`;
  const parts = [
    `again as (select * from ${entryRows(first)})`,
    // A text that a receipt has settled meanwhile is not sent again.
    `noted as (
      update message m set attempt = a.attempt, possible_duplicates = a.possible_duplicates, carrier = a.carrier
      from again a cross join open
      where m.id = a.message_id and m.id = any($${ids}::uuid[]) and m.status in (${statusCodes([...unsentStatuses, 'sent'])})
      returning m.id, m.expires_at)`,
  ];
  const moved = again.filter(({ isMoved }) => isMoved);
  if (moved.length < again.length) {
    const others = moved.length === 0 ? '' : `where message_id <> all($${values.push(idsOf(moved))}::uuid[])`;
    parts.push(`scheduled as (
      insert into delivery_schedule (${queueColumns}, due_at) select ${columns}, due_at from ${wanted} ${others}
      on conflict do nothing)`);
  }
  // A text that moves is due at once. Its next carrier sends all parts.
  if (moved.length > 0) {
    const isMoved = `any($${values.push(idsOf(moved))}::uuid[])`;
    parts.push(
      `moved as (
      insert into delivery_queue (${queueColumns}) select ${columns} from ${wanted} where message_id = ${isMoved}
      on conflict do nothing)`,
      `forgotten as (delete from text_part where message_id = ${isMoved} and exists (select from open))`,
    );
  }
  return parts;
}
