import type { SendingChannel } from '../../messages/channel.ts';
import { openingAfter } from './hours.ts';
import { type MatchFacts, matchesCountries, matchingRule } from './matching.ts';
import type { RouteRule, RouteTable } from './table.ts';
import { weightedRank } from './weight.ts';

/** The facts that routing decides by. */
export interface RouteFacts extends MatchFacts {
  /** Chooses among the carriers of one group. Null: the caller asks for the shares only. */
  messageId: string | null;
  /** Texts of verifications and of high priority ignore the hours of a route. */
  urgent: boolean;
  isCode: boolean;
  /** Names of the carriers that the sender is registered with; null: any. */
  senderCarriers: readonly string[] | null;
  /** Keys of carriers that this text, or this verification, has used before: they come last. */
  used: readonly string[];
  /** When the text may leave. */
  nowMs: number;
}

export interface CarrierHealth {
  key: string;
  name: string;
  paused: boolean;
  /** Absent: `sms` alone. */
  channels?: readonly SendingChannel[] | undefined;
  /** Whether the carrier can send now. */
  up: boolean;
  /** Countries whose breaker is open; `*` for all. */
  open: readonly string[];
}

/** A carrier that may take the text. */
export interface Candidate {
  key: string;
  name: string;
  group: 'carriers' | 'failover';
  available: boolean;
  /** The fraction of such texts that have it as their first choice. */
  share: number;
  /** Why it has this rank. */
  reason: string;
}

export type RouteDecision =
  /** There is no carrier, or none that offers the channel. */
  | { outcome: 'no_carrier' }
  /** No rule matches, or none of the rule's carriers may send for this sender. */
  | { outcome: 'unroutable'; version: number; rule: RouteRule | null }
  | {
      outcome: 'routed';
      version: number;
      /** Null with an empty table. */
      rule: RouteRule | null;
      /** The best first; at least one. */
      candidates: Candidate[];
      from: string | null;
      /** When the hours of the route begin, if they defer the text; else null. */
      deferredUntilMs: number | null;
    };

/** A carrier before it is ranked. */
interface Option {
  carrier: CarrierHealth;
  group: Candidate['group'];
  /** Null if the position in the list is the rank. */
  weight: number | null;
  rank: number;
  standing: Standing;
  used: boolean;
}

/** In the order of preference: texts wait longer for a carrier that an operator has paused. */
const standings = ['up', 'breaker_open', 'down', 'paused'] as const;
export type Standing = (typeof standings)[number];

const reasons: Record<Standing, string> = {
  up: 'It is up.',
  breaker_open: 'Too many texts to this country failed, so it rests for a moment.',
  down: 'It is down: texts wait in its queue.',
  paused: 'It is paused: texts wait in its queue.',
};

/** Decides which carriers may take a text, the best first. Pure: the same facts always give the same decision. */
export function route(facts: RouteFacts, table: RouteTable, health: readonly CarrierHealth[]): RouteDecision {
  if (!health.some((carrier) => offers(carrier, facts.channel))) return { outcome: 'no_carrier' };
  const { version } = table;
  const mayTake = (each: RouteRule) => offersAny(each, facts.channel, health);
  const rule = table.routes.length === 0 ? null : matchingRule(table.routes, facts, mayTake);
  return rule === undefined ? { outcome: 'unroutable', version, rule: null } : routeBy(rule, version, facts, health);
}

export function offers({ channels }: Pick<CarrierHealth, 'channels'>, channel: SendingChannel = 'sms'): boolean {
  return channels === undefined ? channel === 'sms' : channels.includes(channel);
}

/** False if all carriers that a rule names are there, and none of them offers the channel. */
function offersAny(
  { carriers, failover }: RouteRule,
  channel: SendingChannel | undefined,
  health: readonly CarrierHealth[],
): boolean {
  const mayOffer = (name: string) => {
    const known = health.find((carrier) => carrier.name === name);
    return known === undefined || offers(known, channel);
  };
  return carriers.some(({ carrier }) => mayOffer(carrier)) || failover.some(mayOffer);
}

/** Whether the decision needs the country of the number. */
export function asksForCountry({ routes }: RouteTable, health: readonly CarrierHealth[]): boolean {
  return matchesCountries(routes) || health.some(({ open }) => open.length > 0);
}

/** The decision once the rule is known; null is the empty table. */
export function routeBy(
  rule: RouteRule | null,
  version: number,
  facts: RouteFacts,
  health: readonly CarrierHealth[],
): RouteDecision {
  const { senderCarriers } = facts;
  const options = (rule === null ? optionsByName(facts, health) : optionsOf(rule, facts, health)).filter(
    ({ carrier }) =>
      offers(carrier, facts.channel) && (senderCarriers === null || senderCarriers.includes(carrier.name)),
  );
  if (options.length === 0) return { outcome: 'unroutable', version, rule };
  const deferredUntilMs = rule?.hours && !facts.urgent ? openingAfter(rule.hours, facts.nowMs) : null;
  const candidates = toCandidates(options.sort(facts.isCode ? compareForCode : compareForText), facts.isCode);
  return { outcome: 'routed', version, rule, candidates, from: rule?.from ?? null, deferredUntilMs };
}

/** With an empty table every carrier takes every text, the first by name. */
function optionsByName(facts: RouteFacts, health: readonly CarrierHealth[]): Option[] {
  return health
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((carrier, rank) => toOption(facts, carrier, { group: 'carriers', weight: null, rank }));
}

function optionsOf({ carriers, failover }: RouteRule, facts: RouteFacts, health: readonly CarrierHealth[]): Option[] {
  const known = new Map(health.map((carrier) => [carrier.name, carrier]));
  // Table and carriers are read one after the other: a carrier may be new, or gone.
  const option = (name: string, about: Pick<Option, 'group' | 'weight' | 'rank'>) => {
    const carrier = known.get(name);
    return carrier === undefined ? [] : [toOption(facts, carrier, about)];
  };
  return [
    ...carriers.flatMap(({ carrier: name, weight }) =>
      option(name, { group: 'carriers', weight, rank: weightedRank(facts.messageId, name, weight) }),
    ),
    ...failover.flatMap((name, rank) => option(name, { group: 'failover', weight: null, rank })),
  ];
}

function toOption(facts: RouteFacts, carrier: CarrierHealth, about: Pick<Option, 'group' | 'weight' | 'rank'>) {
  return { carrier, ...about, standing: standingOf(carrier, facts.country), used: facts.used.includes(carrier.key) };
}

export function standingOf({ paused, up, open }: CarrierHealth, country: string | undefined): Standing {
  if (paused) return 'paused';
  if (!up) return 'down';
  return open.some((each) => each === '*' || each === country) ? 'breaker_open' : 'up';
}

/** A code takes any working carrier, because its user waits. */
function compareForCode(a: Option, b: Option): number {
  return byStanding(a, b) || byUse(a, b) || byGroup(a, b) || byRank(a, b);
}

/** Another text waits for its group: moving a backlog to an expensive carrier without being asked can be ruinous. */
function compareForText(a: Option, b: Option): number {
  return byGroup(a, b) || byStanding(a, b) || byUse(a, b) || byRank(a, b);
}

const byGroup = (a: Option, b: Option) => Number(a.group === 'failover') - Number(b.group === 'failover');
const byStanding = (a: Option, b: Option) => standings.indexOf(a.standing) - standings.indexOf(b.standing);
const byUse = (a: Option, b: Option) => Number(a.used) - Number(b.used);
const byRank = (a: Option, b: Option) => a.rank - b.rank || (a.carrier.name < b.carrier.name ? -1 : 1);

function toCandidates(sorted: Option[], isCode: boolean): Candidate[] {
  const [first] = sorted;
  const leading = sorted.filter(
    (each) => first && (byGroup(each, first) || byStanding(each, first) || byUse(each, first)) === 0,
  );
  const total = leading.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
  return sorted.map((option, index) => {
    const { carrier, group, weight, standing } = option;
    const share = weight === null || total === 0 ? Number(index === 0) : leading.includes(option) ? weight / total : 0;
    const available = standing === 'up';
    return { key: carrier.key, name: carrier.name, group, available, share, reason: reasonOf(option, isCode) };
  });
}

function reasonOf({ group, weight, standing, used }: Option, isCode: boolean): string {
  const parts = [reasons[standing]];
  if (weight !== null) parts.push(`Its weight is ${weight}.`);
  if (group === 'failover')
    parts.push(
      isCode
        ? 'It takes codes when the carriers of the route fail.'
        : 'It takes only texts that must leave their carrier.',
    );
  if (used) parts.push('The text or its verification used it before, so it comes after the others.');
  return parts.join(' ');
}
