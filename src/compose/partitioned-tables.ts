import { eventTable } from '../events/event-store.ts';
import { beginDay } from '../events/position.ts';
import { messageTable } from '../messages/message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { makePartitions, type PartitionedTable } from '../platform/database/partitions.ts';
import { verificationTables } from '../verify/verification-store.ts';
import { deliveryTable } from '../webhooks/delivery-store.ts';

/** The tables of records, by week. */
export const recordTables: PartitionedTable[] = [messageTable, ...verificationTables];
/** The tables of events, by day. */
export const eventTables: PartitionedTable[] = [eventTable, deliveryTable];

/** Call right after the migrations, so that the first rows find their partition. A chore makes the later ones. */
export async function makeFirstPartitions(database: Database, clock: Clock): Promise<void> {
  await beginDay(database, clock.nowMs());
  for (const table of [...recordTables, ...eventTables]) await makePartitions(database, table, clock.nowMs());
}
