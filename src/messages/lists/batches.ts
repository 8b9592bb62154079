import { apiNames } from '../../http/route.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, idTimeMs, uuidFloor, uuidOf } from '../../platform/ids.ts';
import type { Message, MessageStatus } from '../message.ts';
import { statusOf } from '../message-row.ts';

/** The messages of one batch request: how many there are in each status. */
export interface MessageBatch {
  correlationId: string;
  counts: Map<MessageStatus, number>;
}

/** The messages of a batch get their ids together. */
const togetherMs = 1000;
/** A batch has at most this many messages. */
const mostOfBatch = 100;

/** Counts the batches that have two listed messages or more. */
export async function countBatches(
  tx: Tx,
  applicationId: string,
  listed: readonly Pick<Message, 'id' | 'correlationId'>[],
): Promise<MessageBatch[]> {
  const spans = new Map<string, { count: number; firstMs: number; lastMs: number }>();
  for (const { id, correlationId } of listed) {
    const atMs = idTimeMs(id);
    const { count, firstMs, lastMs } = spans.get(correlationId) ?? { count: 0, firstMs: atMs, lastMs: atMs };
    const span = { count: count + 1, firstMs: Math.min(firstMs, atMs), lastMs: Math.max(lastMs, atMs) };
    spans.set(correlationId, span);
  }
  const wanted = [...spans].filter(([, { count }]) => count > 1);
  if (wanted.length === 0) return [];
  const { rows } = await tx.query<{ id: string; status: number; count: number }>(countStatement, [
    wanted.map(([correlationId]) => uuidOf(correlationId)),
    wanted.map(([, { firstMs }]) => uuidFloor(firstMs - togetherMs)),
    wanted.map(([, { lastMs }]) => uuidFloor(lastMs + togetherMs)),
    uuidOf(applicationId),
  ]);
  const counts = new Map(wanted.map(([correlationId]) => [correlationId, new Map<MessageStatus, number>()]));
  for (const { id, status, count } of rows) counts.get(fromUuid('req', id))?.set(statusOf(status), count);
  return [...counts].map(([correlationId, each]) => ({ correlationId, counts: each }));
}

const countStatement = {
  name: 'count-messages-of-batches',
  text: `select b.id, m.status, count(*)::integer as count
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as b(id, lowest, upper)
    cross join lateral (
      select status from message
      where application_id = $4 and api = ${apiNames.indexOf('messaging')} and id >= b.lowest and id < b.upper
        and correlation_id = b.id
      order by id limit ${mostOfBatch}) m
    group by b.id, m.status`,
};
