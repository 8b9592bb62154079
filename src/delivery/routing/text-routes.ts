// Tests: test/contract/carrier-choice.test.ts
import { noCarrier, type SendingChannel, sendingChannels } from '../../messages/channel.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import type { RouteText, TextFacts, TextRoute } from '../../messages/text/text-route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Environment } from '../../platform/environment.ts';
import { unavailable } from '../../platform/errors.ts';
import type { CarrierDirectory } from './directory.ts';
import { routeIn, virtualPhones } from './environment.ts';
import { type Routed, toRouting } from './record.ts';
import { asksForCountry, type CarrierHealth, offers, type RouteFacts } from './routing.ts';

/** The carriers and routes, as a node knows them. */
export interface KnownWays extends Pick<CarrierDirectory, 'table' | 'areDownFor'> {
  list(): readonly CarrierHealth[];
}

export interface TextRoutesOptions {
  directory: KnownWays;
  clock: Clock;
  environment: Environment;
}

/** The facts of a code before the service decides whether to send it. */
export type CodeFacts = Pick<TextFacts, 'channel' | 'applicationId' | 'to' | 'from' | 'holdsSender' | 'senderCarriers'>;

const smsAlone: readonly SendingChannel[] = ['sms'];

/** A start is refused once its carriers have been down for this long: the code would expire in a queue. */
const codesWaitMs = 30_000;

/** Chooses the carriers of texts on web nodes. */
export function createTextRoutes({ directory, clock, environment }: TextRoutesOptions) {
  function toFacts(text: Omit<TextFacts, 'messageId'>, messageId: string | null): RouteFacts {
    const { to, from, api, channel, applicationId, urgent, senderCarriers, used, sendAtMs } = text;
    const country = asksForCountry(directory.table(), directory.list()) ? routedCountryOf(to) : undefined;
    const about = { to, country, from, api, channel, applicationId, urgent, senderCarriers, used };
    return { messageId, ...about, isCode: api === 'verify', nowMs: sendAtMs };
  }

  /** Most installations begin with one carrier, or with the virtual phones: there is nothing to choose. */
  const onlyWay = new Map<string, TextRoute>();
  function onlyCarrier({
    senderCarriers,
    channel,
  }: Pick<TextFacts, 'senderCarriers' | 'channel'>): TextRoute | undefined {
    // The route of another channel is stored with the text, so that it moves to no carrier of texts.
    if (channel !== undefined && channel !== 'sms') return undefined;
    const carriers = directory.list();
    if (directory.table().routes.length > 0 || senderCarriers !== null || carriers.length > 1) return undefined;
    // With a carrier in the sandbox, test numbers still have the virtual phones.
    if (carriers.length === 1 && environment === 'sandbox') return undefined;
    const [only = environment === 'sandbox' ? virtualPhones : undefined] = carriers;
    if (only === undefined || !only.up || only.paused || only.open.length > 0 || !offers(only)) return undefined;
    const known = onlyWay.get(only.key) ?? {
      carrier: only.key,
      sentAs: null,
      deferredUntilMs: null,
      routing: undefined,
    };
    onlyWay.set(only.key, known);
    return known;
  }

  const decide = (facts: RouteFacts) => routeIn(environment, facts, directory.table(), directory.list());

  return {
    routeText(text: TextFacts): ReturnType<RouteText> {
      const only = onlyCarrier(text);
      if (only !== undefined) return only;
      const facts = toFacts(text, text.messageId);
      const decision = decide(facts);
      if (decision.outcome !== 'routed') return decision.outcome;
      return toTextRoute(text, facts, decision, directory);
    },

    /**
     * Throws a 503 if there is no carrier, or if all that could take this code have been down for 30 s. Returns the
     * sender that the route substitutes, or null.
     */
    requireCarrier(start: CodeFacts): string | null {
      if (onlyCarrier(start) !== undefined) return null;
      const about = { api: 'verify', urgent: true, used: [] } as const;
      const decision = decide(toFacts({ ...start, ...about, sendAtMs: clock.nowMs() }, null));
      if (decision.outcome === 'no_carrier') throw noCarrier();
      // The guard decides before a start is refused for its destination.
      if (decision.outcome === 'unroutable') return null;
      const keys = decision.candidates.map(({ key }) => key);
      if (directory.areDownFor(keys, codesWaitMs))
        throw unavailable('No carrier can send texts to this number at the moment. Try again shortly.', 30);
      return start.holdsSender ? null : decision.from;
    },

    /** The channels that some carrier offers; `sms` before the first carrier is connected. */
    workingChannels(): readonly SendingChannel[] {
      if (environment === 'sandbox') return sendingChannels;
      const carriers = directory.list();
      if (carriers.every(({ channels }) => channels === undefined)) return smsAlone;
      return sendingChannels.filter((channel) => carriers.some((carrier) => offers(carrier, channel)));
    },

    /** True while a text may have several carriers. */
    hasChoice: (): boolean => directory.list().length > 1 || directory.table().routes.length > 0,
  };
}

function toTextRoute(text: TextFacts, facts: RouteFacts, decision: Routed, directory: KnownWays): TextRoute {
  const [first] = decision.candidates;
  if (first === undefined) throw new Error('a route has at least one carrier');
  const keepsSender = text.api === 'verify' && text.holdsSender;
  return {
    carrier: first.key,
    sentAs: keepsSender || decision.from === text.from ? null : decision.from,
    deferredUntilMs: decision.deferredUntilMs,
    routing: toRouting(facts, decision, directory.table(), directory.list()),
  };
}
