import type { Routing, RoutingGiven } from '../../messages/text/text-route.ts';
import type { RoutedText } from './routed-text-store.ts';
import { type CarrierHealth, type RouteDecision, type RouteFacts, routeBy, standingOf } from './routing.ts';
import type { RouteTable } from './table.ts';

export type Routed = Extract<RouteDecision, { outcome: 'routed' }>;

/** A carrier at the time of a text. */
export type PastCarrier = Pick<CarrierHealth, 'key' | 'name' | 'channels'>;

/**
 * The data stored with a text, so that `decideAgain` finds the same decision. Undefined where there is nothing to
 * store.
 */
export function toRouting(
  facts: RouteFacts,
  decision: Routed,
  table: RouteTable,
  health: readonly CarrierHealth[],
): Routing | undefined {
  const { rule, candidates } = decision;
  const given: RoutingGiven = {};
  if (facts.channel !== undefined && facts.channel !== 'sms') given.channel = facts.channel;
  for (const { key, available } of candidates) {
    const carrier = available ? undefined : health.find((each) => each.key === key);
    const standing = carrier && standingOf(carrier, facts.country);
    if (standing !== undefined && standing !== 'up') given[standing] = [...(given[standing] ?? []), key];
  }
  const used = candidates.map(({ key }) => key).filter((key) => facts.used.includes(key));
  if (used.length > 0) given.used = used;
  if (facts.senderCarriers !== null) given.sender_carriers = [...facts.senderCarriers];
  const isPlain = Object.keys(given).length === 0;
  if (rule === null) return isPlain ? undefined : { version: null, rule: null, given };
  return { version: decision.version, rule: table.routes.indexOf(rule), given: isPlain ? null : given };
}

/**
 * Derives the decision about a sent text from the data stored with it, its version of the table and the carriers of
 * that time. It needs no number, which may be masked by now.
 */
export function decideAgain(text: RoutedText, table: RouteTable, carriers: readonly PastCarrier[]): RouteDecision {
  const rule = text.routeRule === null ? null : (table.routes[text.routeRule] ?? null);
  const facts = { ...factsOfText(text), country: undefined, nowMs: text.createdAtMs };
  const decision = routeBy(
    rule,
    text.routeVersion ?? 0,
    facts,
    carriers.map((carrier) => healthAt(carrier, text.given)),
  );
  if (decision.outcome !== 'routed') return decision;
  const { sentAs: from, deferredUntilMs } = text;
  return { ...decision, from, deferredUntilMs };
}

export function factsOfText(text: RoutedText): Omit<RouteFacts, 'country' | 'nowMs'> {
  const { id: messageId, to, from, api, applicationId, urgent, given } = text;
  const { used = [], sender_carriers: senderCarriers = null, channel } = given;
  const about = { messageId, to, from, api, channel, applicationId, urgent };
  return { ...about, isCode: api === 'verify', senderCarriers, used };
}

function healthAt({ key, name, channels }: PastCarrier, given: RoutingGiven): CarrierHealth {
  const isIn = (keys: readonly string[] = []) => keys.includes(key);
  return {
    key,
    name,
    channels,
    paused: isIn(given.paused),
    up: !isIn(given.down),
    open: isIn(given.breaker_open) ? ['*'] : [],
  };
}
