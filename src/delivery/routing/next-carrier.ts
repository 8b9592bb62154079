import type { TextToSend } from '../../messages/text/text-to-send.ts';
import type { Environment } from '../../platform/environment.ts';
import { routeIn } from './environment.ts';
import { asksForCountry, type CarrierHealth } from './routing.ts';
import type { RouteRule, RouteTable } from './table.ts';

/** What routing needs to know of a text that is to go on. */
export type MovingText = Pick<TextToSend, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'given'>;

/** Where a text may go on to. */
export interface NextCarrier {
  carrier: string;
  /** The rule that allows it; null with an empty table. */
  rule: RouteRule | null;
  version: number;
}

/** What a node knows of carriers and routes. */
export interface CarriersNow {
  environment: Environment;
  table: RouteTable;
  health: readonly CarrierHealth[];
  countryOf: (to: string) => string | undefined;
  nowMs: number;
}

/** The best carrier for a text that works and that the text has not been given to. */
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
    applicationId,
    // Its hour was right when it was first to be sent.
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
