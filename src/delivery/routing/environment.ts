// Tests: test/contract/sandbox-routes.test.ts
import { sendingChannels } from '../../messages/channel.ts';
import { testNumberOf } from '../../messages/numbers/test-numbers.ts';
import type { Environment } from '../../platform/environment.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';
import { type CarrierHealth, offers, type RouteDecision, type RouteFacts, route } from './routing.ts';
import type { RouteTable } from './table.ts';

export const virtualPhones: CarrierHealth = {
  key: sandboxCarrier,
  name: sandboxCarrier,
  channels: sendingChannels,
  paused: false,
  up: true,
  open: [],
};

/**
 * `route` with what the environment adds. In the sandbox, test numbers always have the virtual phones; other numbers have
 * them where a route names them, and while no other carrier offers their channel.
 */
export function routeIn(
  environment: Environment,
  facts: RouteFacts,
  table: RouteTable,
  configured: readonly CarrierHealth[],
): RouteDecision {
  if (environment === 'production') return route(facts, table, configured);
  if (isTestNumber(environment, facts.to)) return testNumberDecision;
  const isOffered = configured.some((carrier) => offers(carrier, facts.channel));
  const withPhones = !isOffered || table.routes.length > 0;
  return route(facts, table, withPhones ? [...configured, virtualPhones] : configured);
}

/** Routes do not apply to test numbers. */
export function isTestNumber(environment: Environment, to: string): boolean {
  return environment === 'sandbox' && testNumberOf(to) !== undefined;
}

const testNumberDecision: RouteDecision = {
  outcome: 'routed',
  version: 0,
  rule: null,
  candidates: [
    {
      key: sandboxCarrier,
      name: sandboxCarrier,
      group: 'carriers',
      available: true,
      share: 1,
      reason: 'The number is a test number of the sandbox.',
    },
  ],
  from: null,
  deferredUntilMs: null,
};
