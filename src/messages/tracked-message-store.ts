import type { Tx } from '../platform/database.ts';
import { idFloor, idTimeMs, longestRequestMs } from '../platform/ids.ts';
import { messageColumns } from './message-store.ts';
import type { TrackedMessage } from './tracked-message.ts';

const trackedColumns = `${messageColumns}, attempt, possible_duplicates as "possibleDuplicates"`;

export async function findTrackedMessage(
  tx: Tx,
  applicationId: string,
  id: string,
): Promise<TrackedMessage | undefined> {
  const { rows } = await tx.query<TrackedMessage>(
    `select ${trackedColumns} from message where id = $1 and application_id = $2`,
    [id, applicationId],
  );
  return rows[0];
}

/** These texts, oldest first. */
export async function findTextsByIds(tx: Tx, messageIds: string[]): Promise<TrackedMessage[]> {
  const { rows } = await tx.query<TrackedMessage>(
    `select ${trackedColumns} from message where id = any($1) order by id`,
    [messageIds],
  );
  return rows;
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
  const { rows } = await tx.query<TrackedMessage>(
    `select m.* from unnest($4::text[]) as a(id) cross join (values ('sms'), ('messaging'), ('verify')) as p(api)
     cross join lateral (
       select ${trackedColumns} from message
       where application_id = a.id and api = p.api and id >= $2 and id < $3 and correlation_id = $1
       order by id limit 100) m`,
    [correlationId, idFloor('msg', madeMs - 1000), idFloor('msg', madeMs + longestRequestMs), applicationIds],
  );
  return rows;
}
