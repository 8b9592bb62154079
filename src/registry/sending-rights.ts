import type { GuardHold, HeldSender, SendingRights } from '../http/sending-rights.ts';
import type { Config, PlanName } from '../settings/settings.ts';
import { type ChangedPlans, changedPlansColumn } from './plan-store.ts';

/** Segments a day by plan, until an operator changes them; null for no limit. */
export const planSegments: Readonly<Record<PlanName, number | null>> = { free: 1000, pro: 100_000, enterprise: null };

/** An application's rights as Postgres stores them. */
export interface RightsRow {
  senders: HeldSender[];
  /** Numbers that people text it at: it may send from them too. One row for each keyword and carrier; null for all carriers. */
  numbers: { number: string; carrier: string | null }[];
  templates: SendingRights['templates'];
  callCountries: string[];
  segmentsPerDay: number | null;
  assurance: string | null;
  changedPlans: ChangedPlans;
  /** Holds that were not ended; they may have expired. */
  holds: GuardHold[];
}

export type RightsConfig = Pick<Config, 'environment' | 'senders'>;

/** Reads an application's rights. The sandbox sends nothing, so it has no limits. */
export function toRights(row: RightsRow, plans: PlanName[], { environment, senders }: RightsConfig): SendingRights {
  const isSandbox = environment === 'sandbox';
  return {
    senderRule: isSandbox ? 'any' : senders === 'open' ? 'open' : 'held',
    senders: [...row.senders, ...toHeldNumbers(row.numbers)],
    templates: row.templates,
    callCountries: isSandbox ? null : row.callCountries,
    segmentsPerDay: isSandbox ? null : (row.segmentsPerDay ?? largestOf(plans, row.changedPlans)),
    assurance: row.assurance,
    holds: isSandbox ? [] : row.holds,
  };
}

function toHeldNumbers(rows: RightsRow['numbers']): HeldSender[] {
  const carriersOf = new Map<string, Set<string | null>>();
  for (const { number } of rows) carriersOf.set(number, new Set());
  for (const { number, carrier } of rows) carriersOf.get(number)?.add(carrier);
  return [...carriersOf].map(([sender, carriers]) => {
    const named = [...carriers].filter((carrier) => carrier !== null);
    return { sender, countries: [], carriers: named.length === carriers.size ? named : [] };
  });
}

/** An application has a plan for each API, and one count for all: the largest plan decides. */
export function largestOf(plans: PlanName[], changed: ChangedPlans): number | null {
  let largest = 0;
  for (const plan of plans) {
    const segments = changed[plan] === undefined ? planSegments[plan] : changed[plan].segmentsPerDay;
    if (segments === null) return null;
    largest = Math.max(largest, segments);
  }
  return largest;
}

const toMs = (column: string) => `floor(extract(epoch from ${column}) * 1000)`;

/** Rows as a JSON array. Postgres prepares an aggregate at each execution, which costs more than this. */
export const jsonRows = (select: string) => `to_json(array(${select}))`;

/**
 * Reads a table by its index on the application. `offset 0` stops Postgres from choosing the index that has the order of the
 * result, by which it would read the rows of all applications.
 */
const ofApplication = (table: string, conditions = 'true') =>
  `(select * from ${table} where application_id = a.id and ${conditions} offset 0)`;

const senderRows =
  jsonRows(`select json_build_object('sender', s.sender, 'countries', s.countries, 'carriers', s.carriers)
  from ${ofApplication('sender')} s where s.status = 'approved' order by s.id`);
const numberRows = jsonRows(`select json_build_object('number', o.number, 'carrier', o.carrier)
  from ${ofApplication('own_number')} o order by o.number, o.carrier`);
const holdRows = jsonRows(`select json_build_object('id', h.id, 'scope', h.scope, 'numbers', h.numbers,
    'approved', h.approved, 'leastShare', h.least_share, 'beganAtMs', ${toMs('h.began_at')}, 'untilMs', ${toMs('h.until')})
  from ${ofApplication('guard_hold', 'ended_at is null and acts')} h order by h.id`);

/** SQL for the columns of a `RightsRow`, where `a` is the application. */
export const rightsColumns = `a.segments_per_day as "segmentsPerDay", a.call_countries as "callCountries", a.assurance,
  ${senderRows} as senders, ${numberRows} as numbers, ${holdRows} as holds,
  coalesce((select json_object_agg(t.country, json_build_object('text', t.text, 'templateId', t.template_id))
    from verification_template t where t.application_id = a.id), '{}') as templates,
  ${changedPlansColumn}`;
