import type { Tx } from '../platform/database.ts';
import { idFloor, idTimeMs, longestRequestMs } from '../platform/ids.ts';
import { messageColumns } from './message-store.ts';
import type { TrackedMessage } from './tracked-message.ts';

/** An account has a hundred at most; one that was given more by other means is looked through as far as that. */
export const applicationsOf = (account: string) =>
  `(select id from application where account_id = ${account} order by id desc limit 100)`;

const trackedColumns = `${messageColumns}, attempt, possible_duplicates as "possibleDuplicates"`;

export async function findTracked(tx: Tx, applicationId: string, id: string): Promise<TrackedMessage | undefined> {
  const { rows } = await tx.query<TrackedMessage>(
    `select ${trackedColumns} from message where id = $1 and application_id = $2`,
    [id, applicationId],
  );
  return rows[0];
}

/** All the texts of a verification, oldest first. */
export async function findTextsOf(tx: Tx, verificationId: string): Promise<TrackedMessage[]> {
  const { rows } = await tx.query<TrackedMessage>(
    `select ${trackedColumns} from message where verification_id = $1 order by id`,
    [verificationId],
  );
  return rows;
}

/**
 * The texts a request of one of the account's applications made. Both ids tell the time, so a range of the list's own
 * index finds them: an index of correlation ids would cost every message, and be asked once in a while.
 */
export async function findMadeBy(tx: Tx, accountId: string, correlationId: string): Promise<TrackedMessage[]> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<TrackedMessage>(
    `select m.* from ${applicationsOf('$4')} a cross join (values ('sms'), ('messaging'), ('verify')) as p(api)
     cross join lateral (
       select ${trackedColumns} from message
       where application_id = a.id and api = p.api and id >= $2 and id < $3 and correlation_id = $1
       order by id limit 100) m`,
    [correlationId, idFloor('msg', madeMs - 1000), idFloor('msg', madeMs + longestRequestMs), accountId],
  );
  return rows;
}
