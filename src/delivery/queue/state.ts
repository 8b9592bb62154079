import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, idTimeMs } from '../../platform/ids.ts';

export interface QueueState {
  /** Ready to be sent and not claimed; counts stop at `mostCounted`. */
  waiting: number;
  onTheWire: number;
  /** When the oldest of those that wait was accepted. */
  oldestDueAtMs: number | null;
}

const mostCounted = 10_000;

/** The backlog over all carriers. */
export async function readQueueState(tx: Tx): Promise<QueueState> {
  const { rows } = await tx.query<{ waiting: number; onTheWire: number; oldest: string | null }>(
    `with waiting as (select message_id from delivery_queue limit $1)
     select (select count(*) from waiting) as waiting,
       (select message_id from waiting order by message_id limit 1) as oldest,
       (select coalesce(sum(cardinality(message_ids)), 0) from delivery_claim) as "onTheWire"`,
    [mostCounted],
  );
  const { waiting = 0, onTheWire = 0, oldest = null } = rows[0] ?? {};
  return { waiting, onTheWire, oldestDueAtMs: oldest === null ? null : idTimeMs(fromUuid('msg', oldest)) };
}

/** The carriers that texts wait for, with one index lookup each. */
export async function findQueueKeys(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ carrier: string }>(findKeysStatement);
  return rows.map(({ carrier }) => carrier);
}

const keysOf = (table: string) => `(with recursive k as (
      (select carrier from ${table} order by carrier limit 1)
      union all
      select (select t.carrier from ${table} t where t.carrier > k.carrier order by t.carrier limit 1) from k
      where k.carrier is not null)
    select carrier from k where carrier is not null)`;
const findKeysStatement = {
  name: 'find-queue-keys',
  text: `${keysOf('delivery_queue')} union ${keysOf('delivery_schedule')} union select carrier from delivery_claim`,
};
