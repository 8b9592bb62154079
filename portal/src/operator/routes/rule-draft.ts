import type { RouteRule } from '../../api/operator-types.ts';
import type { ApiName } from '../../api/types.ts';
import { words } from '../../words/operator/routes.ts';

/** A rule as typed: lists are texts with commas, and numbers are texts. */
export interface RuleDraft {
  name: string;
  countries: string;
  prefixes: string;
  senders: string;
  applications: string;
  apis: ApiName[];
  carriers: { carrier: string; weight: string }[];
  failover: string[];
  /** Null: only verification texts fail over. */
  perMinute: string | null;
  from: string;
  hours: RouteRule['hours'];
}

export function toRuleDraft({ name, match, carriers, failover, failover_bulk, from, hours }: RouteRule): RuleDraft {
  const typed = (list: string[] = []) => list.join(', ');
  return {
    name,
    countries: typed(match.countries),
    prefixes: typed(match.prefixes),
    senders: typed(match.senders),
    applications: typed(match.applications),
    apis: match.apis ?? [],
    carriers: carriers.map(({ carrier, weight }) => ({ carrier, weight: String(weight) })),
    failover,
    perMinute: failover_bulk === false ? null : String(failover_bulk.per_minute),
    from: from ?? '',
    hours,
  };
}

export function fromRuleDraft(draft: RuleDraft): RouteRule {
  const match: RouteRule['match'] = {};
  const countries = listed(draft.countries.toUpperCase());
  const [prefixes, senders, applications] = [draft.prefixes, draft.senders, draft.applications].map(listed);
  if (countries.length > 0) match.countries = countries;
  if (prefixes?.length) match.prefixes = prefixes;
  if (draft.apis.length > 0) match.apis = draft.apis;
  if (applications?.length) match.applications = applications;
  if (senders?.length) match.senders = senders;
  return {
    name: draft.name.trim(),
    match,
    carriers: draft.carriers.map(({ carrier, weight }) => ({ carrier, weight: Number(weight) })),
    failover: draft.failover,
    failover_bulk: draft.perMinute === null ? false : { per_minute: Number(draft.perMinute) },
    from: draft.from.trim() === '' ? null : draft.from.trim(),
    hours: draft.hours,
  };
}

/** Senders may contain spaces, so only commas separate items. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Problems that the service would report only after all rules are sent. */
export function ruleProblem(draft: RuleDraft, taken: string[]): string | undefined {
  const name = draft.name.trim();
  if (name === '') return words.problems.name;
  if (taken.includes(name)) return words.problems.nameTaken(name);
  if (draft.carriers.length === 0) return words.problems.carrier;
  if (!draft.carriers.every(({ weight }) => isWhole(weight))) return words.problems.weight;
  const twice = [...draft.carriers.map(({ carrier }) => carrier), ...draft.failover].find(
    (carrier, index, all) => all.indexOf(carrier) !== index,
  );
  if (twice !== undefined) return words.problems.twice(twice);
  if (draft.perMinute !== null && !/^[1-9]\d*$/.test(draft.perMinute)) return words.problems.perMinute;
  return undefined;
}

function isWhole(weight: string): boolean {
  return /^\d{1,4}$/.test(weight) && Number(weight) >= 1 && Number(weight) <= 1000;
}
