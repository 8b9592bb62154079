// Tests: src/delivery/routing/routing.test.ts
import type { Api } from '../../http/route.ts';
import type { SendingChannel } from '../../messages/channel.ts';
import type { RouteRule } from './table.ts';

/** The facts of a text that rules match. */
export interface MatchFacts {
  to: string;
  /** Country of the number. Only rules with countries and open breakers need it. */
  country: string | undefined;
  from: string;
  api: Api;
  /** Absent for `sms`. */
  channel?: SendingChannel | undefined;
  applicationId: string;
}

/** The lists of a rule as sets. Null: the list is absent or empty, and matches all. */
interface Lists {
  countries: Set<string> | null;
  prefixes: readonly string[] | null;
  apis: Set<string> | null;
  channels: Set<string> | null;
  applications: Set<string> | null;
  senders: Set<string> | null;
}

/** Cached: every text reads the table, and it changes rarely. */
const listsOf = new WeakMap<RouteRule, Lists>();

/**
 * The first rule that matches this text. `mayTake` says whether the carriers of a rule that names no channel can take it:
 * if not, the next rule may.
 */
export function matchingRule(
  rules: readonly RouteRule[],
  facts: MatchFacts,
  mayTake: (rule: RouteRule) => boolean = () => true,
): RouteRule | undefined {
  const sender = senderName(facts.from);
  return rules.find((rule) => {
    const { countries, prefixes, apis, channels, applications, senders } = readLists(rule);
    return (
      (apis === null || apis.has(facts.api)) &&
      (channels === null || channels.has(facts.channel ?? 'sms')) &&
      (applications === null || applications.has(facts.applicationId)) &&
      (countries === null || (facts.country !== undefined && countries.has(facts.country))) &&
      (senders === null || senders.has(sender)) &&
      (prefixes === null || prefixes.some((prefix) => facts.to.startsWith(prefix))) &&
      (channels !== null || mayTake(rule))
    );
  });
}

/** Whether a rule needs the country of a number. Finding it can take longer than the rest of the decision. */
export function matchesCountries(rules: readonly RouteRule[]): boolean {
  return rules.some((rule) => readLists(rule).countries !== null);
}

/** Senders that differ only in case or in a leading plus count as equal: phones show them alike. */
function senderName(sender: string): string {
  return (sender.startsWith('+') ? sender.slice(1) : sender).toUpperCase();
}

function readLists(rule: RouteRule): Lists {
  const known = listsOf.get(rule);
  if (known !== undefined) return known;
  const { countries, prefixes, apis, channels, applications, senders } = rule.match;
  const lists: Lists = {
    countries: toSet(countries),
    prefixes: prefixes === undefined || prefixes.length === 0 ? null : prefixes,
    apis: toSet(apis),
    channels: toSet(channels),
    applications: toSet(applications),
    senders: toSet(senders?.map(senderName)),
  };
  listsOf.set(rule, lists);
  return lists;
}

function toSet(list: readonly string[] | undefined): Set<string> | null {
  return list === undefined || list.length === 0 ? null : new Set(list);
}
