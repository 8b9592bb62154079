import { statfs } from 'node:fs/promises';
import { messageStatuses } from '../src/messages/message.ts';
import { dayMs, systemClock } from '../src/platform/clock.ts';
import { newId, uuidFloor, uuidOf } from '../src/platform/ids.ts';
import type { Store } from './store.ts';

const chunk = 100_000;
/** A row, its place in the indexes, and the log of both. */
const bytesPerMessage = 1500;
/** From this number on it is faster to make the indexes anew. */
const many = 500_000;
const owners = 100;

/** Whether the disk holds this many and still has room. */
export async function fits(folder: string, count: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize > count * bytesPerMessage * 1.5;
}

/**
 * Messages that were delivered in the last weeks, from `from` to `to`. They belong to a hundred applications, those of the
 * callers among them.
 */
export async function storeMessages(
  store: Store,
  applicationIds: string[],
  { from, to }: { from: number; to: number },
  onProgress: (stored: number) => void,
): Promise<void> {
  const indexes = to - from >= many ? await dropIndexes(store) : [];
  const all = Array.from({ length: owners }, (_, i) => uuidOf(applicationIds[i] ?? newId('app', systemClock)));
  const nowMs = Date.now();
  for (let low = from; low < to; low += chunk) {
    // Older than anything that is sent meanwhile, and younger than what retention masks.
    const atMs = nowMs - 20 * dayMs + (low / chunk) * 10_000;
    const high = Math.min(low + chunk, to);
    await store.patiently(insert, [low, high - 1, uuidFloor(atMs).slice(0, 14), atMs, all]);
    if (high % (chunk * 10) === 0) onProgress(high);
  }
  for (const index of indexes) await store.patiently(`set maintenance_work_mem = '512MB'; ${index}`);
  await store.patiently('vacuum analyze message');
  await store.patiently('checkpoint');
}

const insert = `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding,
    segment_count, characters, remaining, reference, correlation_id, sequence, created_at, updated_at, sent_at, delivered_at,
    expires_at, carrier, attempt, carrier_message_id)
  select ($3 || '0000-0000-' || lpad(to_hex(i), 12, '0'))::uuid, ($5::uuid[])[1 + i % ${owners}], 0, 0,
    '+447' || lpad((i::bigint * 7919 % 1000000)::text, 9, '0'), 'ACME',
    'Your table is booked for eight. See you tonight!', ${messageStatuses.indexOf('delivered')}, 0, 1, 48, 112,
    case when i % 5 = 0 then 'order-' || i end, ($3 || '0000-0000-' || lpad(to_hex(i), 12, '0'))::uuid, 3, at,
    at + interval '2 seconds', at + interval '1 second', at + interval '2 seconds', at + interval '1 day', 'sandbox', 1, '1'
  from (select i, to_timestamp(($4::float8 + (i - $1) / 100) / 1000) as at
    from generate_series($1::integer, $2::integer) i) as made`;

/** All but that of the primary key, whose rows come in its order. Returns how to make them again. */
async function dropIndexes(store: Store): Promise<string[]> {
  const { rows } = await store.database.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'message' and indexname <> 'message_pkey'`,
  );
  for (const { name } of rows) await store.patiently(`drop index ${name}`);
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '));
}

/** Takes away what was sent since then, so that the store stays of its size. */
export async function removeSentSince(store: Store, atMs: number): Promise<void> {
  await store.patiently('delete from message where id >= $1', [uuidFloor(atMs)]);
  await store.patiently('vacuum message');
}
