import type { Tx } from '../platform/database/database.ts';
import { idTimeMs, longestRequestMs, uuidFloor, uuidOf } from '../platform/ids.ts';
import { type MessageRow, messageColumns, toIdRange, toMessage } from './message-row.ts';
import { isInRange } from './message-store.ts';
import type { TrackedMessage } from './tracked-message.ts';

interface TrackedRow extends MessageRow {
  attempt: number;
  trace: string | null;
}

const trackedColumns = `${messageColumns}, attempt, trace`;

export async function findTrackedMessage(
  tx: Tx,
  applicationId: string,
  id: string,
): Promise<TrackedMessage | undefined> {
  const [found] = await findTextsByIds(tx, [id]);
  return found?.applicationId === applicationId ? found : undefined;
}

/** Oldest first. */
export async function findTextsByIds(tx: Tx, messageIds: string[]): Promise<TrackedMessage[]> {
  if (messageIds.length === 0) return [];
  const { rows } = await tx.query<TrackedRow>(
    `select ${trackedColumns} from message where ${isInRange(1)} order by id`,
    toIdRange(messageIds),
  );
  return rows.map(toTracked);
}

/**
 * The texts that one request created. Both ids contain the time, so a range of the list's index finds them: an index on
 * correlation ids would slow every insert for a rare read.
 */
export async function findMessagesOfRequest(
  tx: Tx,
  applicationIds: string[],
  correlationId: string,
): Promise<TrackedMessage[]> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<TrackedRow>(
    `select m.* from unnest($4::uuid[]) as a(id) cross join generate_series(0, 2) as p(api)
     cross join lateral (
       select ${trackedColumns} from message
       where application_id = a.id and api = p.api and id >= $2 and id < $3 and correlation_id = $1
       order by id limit 100) m`,
    [uuidOf(correlationId), uuidFloor(madeMs - 1000), uuidFloor(madeMs + longestRequestMs), applicationIds.map(uuidOf)],
  );
  return rows.map(toTracked);
}

function toTracked(row: TrackedRow): TrackedMessage {
  return { ...toMessage(row), attempt: row.attempt, trace: row.trace ?? undefined };
}
