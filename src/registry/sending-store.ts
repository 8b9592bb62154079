import type { CountryTemplate } from '../http/sending-rights.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { PlanName } from '../settings/settings.ts';
import { type ChangedPlans, changedPlansColumn } from './plan-store.ts';

export interface StoredTemplate extends CountryTemplate {
  country: string;
  updatedAtMs: number;
}

const templateColumns = 'country, text, template_id as "templateId", updated_at as "updatedAtMs"';

/** There is at most one for each country. */
export async function listTemplates(tx: Tx, applicationId: string): Promise<StoredTemplate[]> {
  const { rows } = await tx.query<StoredTemplate>(
    `select ${templateColumns} from verification_template where application_id = $1 order by country limit 300`,
    [applicationId],
  );
  return rows;
}

export async function putTemplate(tx: Tx, applicationId: string, template: StoredTemplate): Promise<void> {
  const { country, text, templateId, updatedAtMs } = template;
  await tx.query(
    `insert into verification_template (application_id, country, text, template_id, updated_at)
     values ($1, $2, $3, $4, $5)
     on conflict (application_id, country) do update set text = $3, template_id = $4, updated_at = $5`,
    [applicationId, country, text, templateId, toTimestamp(updatedAtMs)],
  );
}

export async function deleteTemplate(tx: Tx, applicationId: string, country: string): Promise<boolean> {
  const { count } = await tx.query('delete from verification_template where application_id = $1 and country = $2', [
    applicationId,
    country,
  ]);
  return count > 0;
}

/** What an operator sees of an application. */
export interface SendingApplication {
  id: string;
  name: string;
  highPriority: boolean;
  /** Null for the number of its plan. */
  segmentsPerDay: number | null;
  /** Countries where it may call people. */
  callCountries: string[];
  /** The plans of its approved registrations. */
  plans: PlanName[];
  changedPlans: ChangedPlans;
}

export async function findSendingApplication(tx: Tx, id: string): Promise<SendingApplication | undefined> {
  const { rows } = await tx.query<SendingApplication>(
    `select id, name, high_priority as "highPriority", segments_per_day as "segmentsPerDay",
       call_countries as "callCountries", coalesce((select json_agg(r.plan) from registration r
         where r.application_id = a.id and r.status = 'approved'), '[]') as plans,
       ${changedPlansColumn}
     from application a where id = $1`,
    [id],
  );
  return rows[0];
}

/** What an operator sets for one application; undefined stays as it is. */
export interface ApplicationLimits {
  segmentsPerDay?: number | null | undefined;
  callCountries?: readonly string[] | undefined;
}

export async function setLimits(tx: Tx, id: string, limits: ApplicationLimits): Promise<boolean> {
  const { segmentsPerDay, callCountries } = limits;
  const { count } = await tx.query(
    `update application set segments_per_day = case when $2 then $3::integer else segments_per_day end,
       call_countries = coalesce($4::text[], call_countries) where id = $1`,
    [id, segmentsPerDay !== undefined, segmentsPerDay ?? null, callCountries ?? null],
  );
  return count > 0;
}
