import type { PageRequest } from '../http/list-page.ts';
import type { Api } from '../http/route.ts';
import type { Tx } from '../platform/database/database.ts';
import type { PlanName } from '../settings/settings.ts';
import type { Application, RegistrationStatus } from './application.ts';
import { applicationColumns } from './registry-store.ts';

/** What an application may call, in short. */
export interface ListedRegistration {
  api: Api;
  plan: PlanName;
  status: RegistrationStatus;
}

/** An application of any account, for operators. */
export interface ListedApplication {
  id: string;
  name: string;
  accountId: string;
  createdAtMs: number;
  registrations: ListedRegistration[];
}

const registrations = `coalesce((
    select json_agg(json_build_object('api', r.api, 'plan', r.plan, 'status', r.status) order by r.api)
    from registration r where r.application_id = a.id), '[]') as registrations`;

/** The applications of an account with what they may call, newest first. */
export async function listApplications(
  tx: Tx,
  accountId: string,
  { limit, after }: PageRequest,
): Promise<(Application & { registrations: ListedRegistration[] })[]> {
  const { rows } = await tx.query<Application & { registrations: ListedRegistration[] }>(
    `select ${applicationColumns}, ${registrations} from application a
     where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [accountId, after ?? null, limit],
  );
  return rows;
}

export interface ApplicationSearch {
  /** The id of an application or an account. */
  id: string;
  /** The name as a pattern for `like`, in lower case. */
  name: string;
  /** Selects all applications of these accounts. */
  accountIds: string[];
}

/** Newest first. Without a search, all of them. */
export async function listAllApplications(
  tx: Tx,
  search: ApplicationSearch | undefined,
  { limit, after }: PageRequest,
): Promise<ListedApplication[]> {
  const matches =
    search === undefined ? '' : 'and (a.id = $3 or a.account_id = any($5::text[]) or lower(a.name) like $4)';
  const { rows } = await tx.query<ListedApplication>(
    `select a.id, a.name, a.account_id as "accountId", a.created_at as "createdAtMs", ${registrations}
     from application a where ($1::text is null or a.id < $1) ${matches} order by a.id desc limit $2`,
    [
      after ?? null,
      limit,
      ...(search === undefined ? [] : [search.id, search.name, [search.id, ...search.accountIds]]),
    ],
  );
  return rows;
}
