import type { PageRequest } from '../http/list-page.ts';
import type { Api } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import type { Allowances, Application, Registration } from './application.ts';

export async function insertApplication(
  tx: Tx,
  accountId: string,
  { id, name, createdAtMs }: Application,
): Promise<void> {
  const at = toTimestamp(createdAtMs);
  await tx.query('insert into application (id, account_id, name, created_at, updated_at) values ($1, $2, $3, $4, $4)', [
    id,
    accountId,
    name,
    at,
  ]);
}

export async function findApplication(tx: Tx, accountId: string, id: string): Promise<Application | undefined> {
  const { rows } = await tx.query<Application>(
    `select ${applicationColumns} from application where id = $1 and account_id = $2`,
    [id, accountId],
  );
  return rows[0];
}

/** Lists the newest applications of an account, which may have a hundred. */
export async function listApplicationIds(tx: Tx, accountId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from application where account_id = $1 order by id desc limit 100',
    [accountId],
  );
  return rows.map(({ id }) => id);
}

/** Counts stop at `most`: an exact larger number is not worth reading a large table. */
export async function countRegistry(
  tx: Tx,
  most: number,
): Promise<{ applications: number; pendingRegistrations: number }> {
  const { rows } = await tx.query<{ applications: number; pendingRegistrations: number }>(
    `select (select count(*) from (select from application limit $1) a) as applications,
       (select count(*) from (select from registration where status = 'pending' or requested_plan is not null limit $1) r)
         as "pendingRegistrations"`,
    [most],
  );
  return rows[0] ?? { applications: 0, pendingRegistrations: 0 };
}

/** Other transactions that count or add applications of this account wait until this one ends. */
export async function lockApplicationsOf(tx: Tx, accountId: string): Promise<void> {
  const lock = 'select pg_advisory_xact_lock(hashtextextended($1, $2))';
  await tx.query(lock, [accountId, lockSeeds.applicationsOfAccount]);
}

/** Counts an account's applications, up to `most`. */
export async function countApplications(tx: Tx, accountId: string, most: number): Promise<number> {
  const { count } = await tx.query('select 1 from application where account_id = $1 limit $2', [accountId, most]);
  return count;
}

/** Locks the application until the transaction ends: other changes of it wait here. */
export async function lockApplication(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from application where id = $1 and account_id = $2 for update', [
    id,
    accountId,
  ]);
  return count > 0;
}

/** Locks any account's application until the transaction ends. */
export async function lockAnyApplication(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from application where id = $1 for update', [id]);
  return count > 0;
}

/** The names of applications, by id. */
export async function readNames(tx: Tx, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; name: string }>(
    'select id, name from application where id = any($1::text[]) limit $2',
    [ids, ids.length],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A change of an application: undefined fields stay as they are. */
export interface ApplicationChange {
  name?: string | undefined;
  helpText?: string | null | undefined;
  assurance?: string | null | undefined;
}

export async function changeApplication(tx: Tx, id: string, change: ApplicationChange, nowMs: number): Promise<void> {
  const { name = null, helpText, assurance } = change;
  await tx.query(
    `update application set name = coalesce($2, name), help_text = case when $3 then $4 else help_text end,
       assurance = case when $6 then $7 else assurance end, updated_at = $5
     where id = $1`,
    [
      ...[id, name, helpText !== undefined, helpText ?? null, toTimestamp(nowMs)],
      ...[assurance !== undefined, assurance ?? null],
    ],
  );
}

/** Whether there is such an application. It stays until the transaction ends. */
export async function isApplication(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('select from application where id = $1 for key share', [id])).count > 0;
}

/** What an application replies about itself to people who text it. */
export async function findAnswering(tx: Tx, id: string): Promise<Pick<Application, 'name' | 'helpText'> | undefined> {
  const { rows } = await tx.query<Pick<Application, 'name' | 'helpText'>>(
    'select name, help_text as "helpText" from application where id = $1',
    [id],
  );
  return rows[0];
}

/** Undefined if there is no such application. */
export async function allowHighPriority(tx: Tx, id: string, allowed: boolean): Promise<Allowances | undefined> {
  const { rows } = await tx.query<Allowances>(
    'update application set high_priority = $2 where id = $1 returning id, name, high_priority as "highPriority"',
    [id, allowed],
  );
  return rows[0];
}

export async function deleteApplication(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from application where id = $1', [id]);
}

export async function listRegistrations(tx: Tx, applicationId: string): Promise<Registration[]> {
  const { rows } = await tx.query<Registration>(
    `select ${registrationColumns} from registration where application_id = $1 order by created_at, id`,
    [applicationId],
  );
  return rows;
}

export async function findRegistration(tx: Tx, applicationId: string, api: Api): Promise<Registration | undefined> {
  const { rows } = await tx.query<Registration>(
    `select ${registrationColumns} from registration where application_id = $1 and api = $2`,
    [applicationId, api],
  );
  return rows[0];
}

export async function findApplicationOf(tx: Tx, registrationId: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>('select application_id as id from registration where id = $1', [
    registrationId,
  ]);
  return rows[0]?.id;
}

/** How many applications each account has. */
export async function countByAccount(tx: Tx, accountIds: string[]): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ id: string; count: number }>(
    'select account_id as id, count(*) from application where account_id = any($1) group by account_id',
    [accountIds],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Null when the application is gone. */
export async function findAccountOf(tx: Tx, applicationId: string): Promise<string | null> {
  const { rows } = await tx.query<{ accountId: string }>(
    'select account_id as "accountId" from application where id = $1',
    [applicationId],
  );
  return rows[0]?.accountId ?? null;
}

export async function lockRegistration(tx: Tx, id: string): Promise<Registration | undefined> {
  const { rows } = await tx.query<Registration>(
    `select ${registrationColumns} from registration where id = $1 for update`,
    [id],
  );
  return rows[0];
}

/** A registration that waits for an operator, with what the operator needs to see. */
export interface WaitingRegistration extends Registration {
  applicationName: string;
  accountId: string;
}

export async function listWaiting(tx: Tx, { limit, after }: PageRequest): Promise<WaitingRegistration[]> {
  const { rows } = await tx.query<WaitingRegistration>(
    `select r.*, a.name as "applicationName", a.account_id as "accountId"
     from (select ${registrationColumns} from registration
           where (status = 'pending' or requested_plan is not null) and ($1::text is null or id < $1)
           order by id desc limit $2) r
     join application a on a.id = r."applicationId" order by r.id desc`,
    [after ?? null, limit],
  );
  return rows;
}

export async function putRegistration(tx: Tx, registration: Registration): Promise<void> {
  const { id, applicationId, api, plan, status, requestedPlan, reason, createdAtMs, updatedAtMs } = registration;
  await tx.query(
    `insert into registration (id, application_id, api, plan, status, requested_plan, created_at, updated_at, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (id) do update set plan = $4, status = $5, requested_plan = $6, updated_at = $8, reason = $9`,
    [id, applicationId, api, plan, status, requestedPlan, toTimestamp(createdAtMs), toTimestamp(updatedAtMs), reason],
  );
}

export async function deleteRegistration(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from registration where id = $1', [id]);
}

export const applicationColumns =
  'id, name, help_text as "helpText", assurance, created_at as "createdAtMs", updated_at as "updatedAtMs"';

const registrationColumns = `id, application_id as "applicationId", api, plan, status,
  requested_plan as "requestedPlan", reason, created_at as "createdAtMs", updated_at as "updatedAtMs"`;
