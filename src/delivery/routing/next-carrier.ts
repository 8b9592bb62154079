import type { TextToSend } from '../../messages/text/text-to-send.ts';
import type { Environment } from '../../platform/environment.ts';
import { routeIn } from './environment.ts';
import { asksForCountry, type CarrierHealth } from './routing.ts';
import type { RouteRule, RouteTable } from './table.ts';

/** The fields of a text that choose its next carrier. */
export type MovingText = Pick<TextToSend, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'given'>;

/** The next carrier of a text. */
export interface NextCarrier {
  carrier: string;
  /** The rule that allows it; null with an empty table. */
  rule: RouteRule | null;
  version: number;
}

/** A node's view of carriers and routes. */
export interface CarriersNow {
  environment: Environment;
  table: RouteTable;
  health: readonly CarrierHealth[];
  countryOf: (to: string) => string | undefined;
  nowMs: number;
}

/** The best working carrier that has not had the text yet. */
export function findNextCarrier(
  { id, applicationId, api, to, sender, given }: MovingText,
  from: string,
  { environment, table, health, countryOf, nowMs }: CarriersNow,
): NextCarrier | undefined {
  const facts = {
    messageId: id,
    to,
    country: asksForCountry(table, health) ? countryOf(to) : undefined,
    from: sender,
    api,
    channel: given?.channel,
    applicationId,
    // The hours of its route were checked when it was first due.
    urgent: true,
    isCode: api === 'verify',
    senderCarriers: given?.sender_carriers ?? null,
    used: [...(given?.used ?? []), from],
    nowMs,
  };
  const decision = routeIn(environment, facts, table, health);
  if (decision.outcome !== 'routed') return undefined;
  const { candidates, rule, version } = decision;
  const found = candidates.find(({ key, available }) => available && key !== from);
  return found && { carrier: found.key, rule, version };
}
