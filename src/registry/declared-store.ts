import type { PageRequest } from '../http/list-page.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { ListedRegistration } from './application-list-store.ts';
import type { StoredTemplate } from './sending-store.ts';

export type DeclaredTemplate = Omit<StoredTemplate, 'updatedAtMs'>;

/** All that a file of declared configuration can say of an application and its registrations. */
export interface DeclaredApplication {
  id: string;
  accountId: string;
  name: string;
  helpText: string | null;
  assurance: string | null;
  highPriority: boolean;
  segmentsPerDay: number | null;
  callCountries: string[];
  templates: DeclaredTemplate[];
  registrations: ListedRegistration[];
  /** Whether it has a credential of this kind. */
  hasKey: boolean;
  hasClient: boolean;
}

const columns = `a.id, a.account_id as "accountId", a.name, a.help_text as "helpText", a.assurance,
  a.high_priority as "highPriority", a.segments_per_day as "segmentsPerDay", a.call_countries as "callCountries", coalesce((
    select json_agg(json_build_object('country', t.country, 'text', t.text, 'templateId', t.template_id) order by t.country)
    from verification_template t where t.application_id = a.id), '[]') as templates, coalesce((
    select json_agg(json_build_object('api', r.api, 'plan', r.plan, 'status', r.status) order by r.api)
    from registration r where r.application_id = a.id), '[]') as registrations,
  exists (select from api_key k where k.application_id = a.id and (k.expires_at is null or k.expires_at > $1)) as "hasKey",
  exists (select from oauth_client c where c.application_id = a.id) as "hasClient"`;

/** The applications of these accounts, and these applications; oldest first. An account has at most a hundred. */
export async function listDeclared(
  tx: Tx,
  { accountIds, ids }: { accountIds: readonly string[]; ids: readonly string[] },
  nowMs: number,
): Promise<DeclaredApplication[]> {
  const { rows } = await tx.query<DeclaredApplication>(
    `select ${columns} from application a where a.id in (
       select id from application where account_id = any($2::text[])
       union select id from application where id = any($3::text[]))
     order by a.id limit $4`,
    [toTimestamp(nowMs), accountIds, ids, accountIds.length * 200 + ids.length],
  );
  return rows;
}

/** A page of all applications, oldest first. */
export async function listAllDeclared(
  tx: Tx,
  { limit, after }: PageRequest,
  nowMs: number,
): Promise<DeclaredApplication[]> {
  const { rows } = await tx.query<DeclaredApplication>(
    `select ${columns} from application a where a.id > $2 order by a.id limit $3`,
    [toTimestamp(nowMs), after ?? '', limit],
  );
  return rows;
}
