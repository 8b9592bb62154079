import type { CarrierHealth, RouteFacts } from '../../src/delivery/routing/routing.ts';
import type { RouteRule } from '../../src/delivery/routing/table.ts';
import type { RouteText } from '../../src/messages/text/text-route.ts';

/** A text of no special kind. */
export const routeFacts = (given: Partial<RouteFacts> = {}): RouteFacts => ({
  messageId: 'msg_a',
  to: '+447700900123',
  country: 'GB',
  from: 'ACME',
  api: 'sms',
  applicationId: 'app_a',
  urgent: false,
  isCode: false,
  senderCarriers: null,
  used: [],
  nowMs: Date.UTC(2026, 0, 5, 12),
  ...given,
});

/** A carrier that works. */
export const carrierHealth = (name: string, given: Partial<CarrierHealth> = {}): CarrierHealth => ({
  key: `${name}#1`,
  name,
  paused: false,
  up: true,
  open: [],
  ...given,
});

/** A rule for every text. */
export const routeRule = (carriers: (string | [string, number])[], given: Partial<RouteRule> = {}): RouteRule => ({
  name: carriers.map((each) => (typeof each === 'string' ? each : each[0])).join('-'),
  match: {},
  carriers: carriers.map((each) =>
    typeof each === 'string' ? { carrier: each, weight: 1 } : { carrier: each[0], weight: each[1] },
  ),
  failover: [],
  failover_bulk: false,
  from: null,
  hours: null,
  ...given,
});

/** Every text goes to this carrier. */
export const routeTo =
  (carrier: string): RouteText =>
  () => ({ carrier, sentAs: null, deferredUntilMs: null, routing: undefined });
