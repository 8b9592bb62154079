import type { Api } from '../../http/route.ts';
import type { RouteRule } from './table.ts';

/** What rules look at. */
export interface MatchFacts {
  to: string;
  /** Of the number; only routes for countries and open breakers ask for it. */
  country: string | undefined;
  from: string;
  api: Api;
  applicationId: string;
}

/** The lists of a rule, for quick answers. Null: the list is absent or empty, and matches all. */
interface Lists {
  countries: Set<string> | null;
  prefixes: readonly string[] | null;
  apis: Set<string> | null;
  applications: Set<string> | null;
  senders: Set<string> | null;
}

/** A table is read for every text and changes rarely. */
const listsOf = new WeakMap<RouteRule, Lists>();

/** The first rule that is for this text. */
export function matchingRule(rules: readonly RouteRule[], facts: MatchFacts): RouteRule | undefined {
  const sender = senderName(facts.from);
  return rules.find((rule) => {
    const { countries, prefixes, apis, applications, senders } = readLists(rule);
    return (
      (apis === null || apis.has(facts.api)) &&
      (applications === null || applications.has(facts.applicationId)) &&
      (countries === null || (facts.country !== undefined && countries.has(facts.country))) &&
      (senders === null || senders.has(sender)) &&
      (prefixes === null || prefixes.some((prefix) => facts.to.startsWith(prefix)))
    );
  });
}

/** Whether a rule asks for the country of a number. To find it can take longer than the rest of the choice. */
export function matchesCountries(rules: readonly RouteRule[]): boolean {
  return rules.some((rule) => readLists(rule).countries !== null);
}

/** Phones show senders alike that differ in case or in the plus. */
function senderName(sender: string): string {
  return (sender.startsWith('+') ? sender.slice(1) : sender).toUpperCase();
}

function readLists(rule: RouteRule): Lists {
  const known = listsOf.get(rule);
  if (known !== undefined) return known;
  const { countries, prefixes, apis, applications, senders } = rule.match;
  const lists: Lists = {
    countries: toSet(countries),
    prefixes: prefixes === undefined || prefixes.length === 0 ? null : prefixes,
    apis: toSet(apis),
    applications: toSet(applications),
    senders: toSet(senders?.map(senderName)),
  };
  listsOf.set(rule, lists);
  return lists;
}

function toSet(list: readonly string[] | undefined): Set<string> | null {
  return list === undefined || list.length === 0 ? null : new Set(list);
}
