import type { PageRequest } from '../http/list-page.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { mostSenders, type Sender, type SenderStatus } from './sender.ts';

const columns = `id, application_id as "applicationId", sender, countries, status, carriers, registration,
  per_second as "perSecond", reason, created_at as "createdAtMs", decided_at as "decidedAtMs"`;

export async function putSender(tx: Tx, sender: Sender): Promise<void> {
  await tx.query(
    `insert into sender (id, application_id, sender, countries, status, carriers, registration, per_second, reason,
       created_at, decided_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (id) do update set status = $5, carriers = $6, registration = $7, per_second = $8, reason = $9,
       decided_at = $11`,
    [
      sender.id,
      sender.applicationId,
      sender.sender,
      sender.countries,
      sender.status,
      sender.carriers,
      sender.registration,
      sender.perSecond,
      sender.reason,
      toTimestamp(sender.createdAtMs),
      sender.decidedAtMs === null ? null : toTimestamp(sender.decidedAtMs),
    ],
  );
}

/** An application's senders, oldest first; there are few. */
export async function listSenders(tx: Tx, applicationId: string): Promise<Sender[]> {
  const { rows } = await tx.query<Sender>(
    `select ${columns} from sender where application_id = $1 order by id limit 200`,
    [applicationId],
  );
  return rows;
}

/** Those of several applications, oldest first. */
export async function listSendersOf(tx: Tx, applicationIds: readonly string[]): Promise<Sender[]> {
  const { rows } = await tx.query<Sender>(
    `select ${columns} from sender where application_id = any($1::text[]) order by id limit $2`,
    [applicationIds, applicationIds.length * mostSenders],
  );
  return rows;
}

/** A sender, with its application and account for operators. */
export interface ListedSender extends Sender {
  applicationName: string;
  accountId: string;
}

/** Senders of all applications, newest first. */
export async function listByStatus(
  tx: Tx,
  status: SenderStatus,
  { limit, after }: PageRequest,
): Promise<ListedSender[]> {
  const { rows } = await tx.query<ListedSender>(
    `select s.*, a.name as "applicationName", a.account_id as "accountId"
     from (select ${columns} from sender where status = $1 and ($2::text is null or id < $2)
           order by id desc limit $3) s
     join application a on a.id = s."applicationId" order by s.id desc`,
    [status, after ?? null, limit],
  );
  return rows;
}

export async function findSender(tx: Tx, id: string): Promise<Sender | undefined> {
  const { rows } = await tx.query<Sender>(`select ${columns} from sender where id = $1`, [id]);
  return rows[0];
}

export async function lockSender(tx: Tx, id: string): Promise<Sender | undefined> {
  const { rows } = await tx.query<Sender>(`select ${columns} from sender where id = $1 for update`, [id]);
  return rows[0];
}

export async function deleteSender(tx: Tx, applicationId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from sender where application_id = $1 and id = $2', [applicationId, id]);
  return count > 0;
}

export interface SenderRate {
  applicationId: string;
  sender: string;
  perSecond: number;
}

/** More limited senders than this would cost every worker too much memory. */
const mostRates = 100_000;

/** The approved senders that have a limit of their own. */
export async function listRates(tx: Tx): Promise<SenderRate[]> {
  const { rows } = await tx.query<SenderRate>(
    `select application_id as "applicationId", sender, per_second as "perSecond" from sender
     where per_second is not null and status = 'approved' order by id limit ${mostRates}`,
  );
  return rows;
}
