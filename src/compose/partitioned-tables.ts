import { messageTable } from '../messages/message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { makePartitions, type PartitionedTable } from '../platform/partitions.ts';
import { verificationTables } from '../verify/verification-store.ts';

/** Every table with weekly partitions. */
export const partitionedTables: PartitionedTable[] = [messageTable, ...verificationTables];

/** Right after the migrations, so that the first rows find their partition. A chore makes the later ones. */
export async function makeFirstPartitions(database: Database, clock: Clock): Promise<void> {
  for (const table of partitionedTables) await makePartitions(database, table, clock.nowMs());
}
