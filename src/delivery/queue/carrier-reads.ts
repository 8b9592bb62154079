// Tests: test/parts/carrier-reads.test.ts
import type { Database } from '../../platform/database/database.ts';
import { createReadBatcher } from '../../platform/database/read-batcher.ts';

/** The queries that idle workers repeat. Workers that ask at the same time share one query: a node can have 200 workers. */
export interface CarrierReads {
  /** Whether texts are in the queue of this carrier. */
  hasQueued(carrier: string): Promise<boolean>;
  /** When the next scheduled text of this carrier is due; undefined if none is. */
  nextDueMs(carrier: string): Promise<number | undefined>;
  /** Whether the lease of a claim is over. */
  hasOverdueClaim(carrier: string): Promise<boolean>;
}

export function createCarrierReads(database: Database): CarrierReads {
  /** Builds a query that returns one row for each carrier, in their order. `value` may use `given.carrier`. */
  function read<Value>(name: string, value: string) {
    const text = `select ${value} as value from unnest($1::text[]) with ordinality as given(carrier, place) order by place`;
    return createReadBatcher(async (carriers: string[]) => {
      const { rows } = await database.query<{ value: Value }>({ name, text }, [carriers]);
      return rows.map((row) => row.value);
    });
  }

  const nextDueMs = read<number | null>(
    'next-due-of-carriers',
    '(select due_at from delivery_schedule s where s.carrier = given.carrier order by due_at limit 1)',
  );
  return {
    hasQueued: read('carriers-with-queue', 'exists (select from delivery_queue q where q.carrier = given.carrier)'),
    nextDueMs: async (carrier) => (await nextDueMs(carrier)) ?? undefined,
    // Leases expire by the clock of Postgres, because the clocks of nodes differ.
    hasOverdueClaim: read(
      'carriers-with-overdue-claim',
      'exists (select from delivery_claim c where c.carrier = given.carrier and c.leased_until <= clock_timestamp())',
    ),
  };
}
