import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../../test/support/effort.ts';
import { routeFacts } from '../../../test/support/routes.ts';
import type { Api } from '../../http/route.ts';
import { decideAgain, toRouting } from './record.ts';
import { type CarrierHealth, type RouteFacts, route } from './routing.ts';
import type { RouteRule, RouteTable } from './table.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const countries = ['GB', 'FR', 'US', 'DE', 'IN'];
const senders = ['ACME', '80123', 'Other'];
const apis: Api[] = ['sms', 'verify', 'messaging'];
const applications = ['app_a', 'app_b', 'app_c'];
const prefixes = ['+44', '+4477', '+33', '+1', '+49'];
const carrierKeys = names.map((name, index) => `${name}#${index + 1}`);

const some = <Value>(values: Value[]) => fc.subarray(values, { maxLength: 3 });
const time = fc.constantFrom('00:00', '08:00', '20:00', '22:30');
const aRule: fc.Arbitrary<RouteRule> = fc
  .record({
    order: fc.shuffledSubarray(names, { minLength: 1 }),
    inGroup: fc.integer({ min: 1, max: 4 }),
    weights: fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 7, maxLength: 7 }),
    match: fc.record({
      countries: some(countries),
      prefixes: some(prefixes),
      apis: some(apis),
      applications: some(applications),
      senders: some(senders),
    }),
    from: fc.option(fc.constantFrom('Sender', '80999')),
    hours: fc.option(fc.record({ from: time, to: time, days: some(['mon', 'tue', 'sat']), zone: fc.constant('UTC') })),
  })
  .map(({ order, inGroup, weights, match, from, hours }) => ({
    name: 'any',
    match,
    carriers: order.slice(0, inGroup).map((carrier, index) => ({ carrier, weight: weights[index] ?? 1 })),
    failover: order.slice(inGroup),
    failover_bulk: false,
    from,
    hours,
  }));
const aTable: fc.Arbitrary<RouteTable> = fc
  .record({
    version: fc.integer({ min: 1, max: 1e6 }),
    routes: fc.array(aRule, { maxLength: 20 }),
    forAll: fc.option(aRule),
  })
  // Converts the table to the form in which the store returns it.
  .map(({ version, routes: some, forAll }) => {
    const routes = forAll === null ? some : [...some, { ...forAll, match: {} }];
    return JSON.parse(JSON.stringify({ version: routes.length === 0 ? 0 : version, routes }));
  });

const someHealth: fc.Arbitrary<CarrierHealth[]> = fc.tuple(
  ...names.map((name, index) =>
    fc.record({
      key: fc.constant(carrierKeys[index] ?? ''),
      name: fc.constant(name),
      paused: fc.boolean(),
      up: fc.boolean(),
      open: fc.subarray([...countries, '*'], { maxLength: 2 }),
    }),
  ),
);
const someFacts: fc.Arbitrary<RouteFacts> = fc
  .record({
    messageId: fc.uuid().map((id) => `msg_${id}`),
    to: fc.constantFrom('+447700900123', '+33612345678', '+15005550199', '+4915112345678'),
    country: fc.option(fc.constantFrom(...countries), { nil: undefined }),
    from: fc.constantFrom(...senders),
    api: fc.constantFrom(...apis),
    applicationId: fc.constantFrom(...applications),
    urgent: fc.boolean(),
    senderCarriers: fc.option(fc.subarray(names, { minLength: 1 })),
    used: fc.subarray(carrierKeys, { maxLength: 3 }),
    nowMs: fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) }),
  })
  .map((given) => routeFacts({ ...given, isCode: given.api === 'verify' }));

/** The decision at the time of sending, and the one that an explanation derives from the row later. */
function sendAndExplain(facts: RouteFacts, table: RouteTable, health: CarrierHealth[]) {
  const decision = route(facts, table, health);
  if (decision.outcome !== 'routed') return undefined;
  const routing = JSON.parse(JSON.stringify(toRouting(facts, decision, table, health) ?? {}));
  const { messageId, to, from, api, applicationId, urgent, nowMs } = facts;
  const text = {
    ...{ id: messageId ?? '', to: to.slice(0, 5), from, api, applicationId, urgent, createdAtMs: nowMs },
    carrier: decision.candidates[0]?.key ?? '',
    sentAs: decision.from,
    deferredUntilMs: decision.deferredUntilMs,
    routeVersion: routing.version ?? null,
    routeRule: routing.rule ?? null,
    given: routing.given ?? {},
  };
  const carriers = health.map(({ key, name }) => ({ key, name }));
  return { decision, again: decideAgain(text, structuredClone(table), carriers), chosen: text.carrier };
}

test('explanations agree with the decisions made, for 200 texts and each of many tables, with the number masked', () => {
  let routed = 0;
  fc.assert(
    fc.property(
      aTable,
      fc.array(fc.tuple(someFacts, someHealth), { minLength: 200, maxLength: 200 }),
      (table, texts) => {
        for (const [facts, health] of texts) {
          const found = sendAndExplain(facts, table, health);
          if (found === undefined) continue;
          routed++;
          assert.deepEqual(found.again, found.decision);
          assert.equal(found.again.outcome === 'routed' && found.again.candidates[0]?.key, found.chosen);
        }
      },
    ),
    // A counterexample among 200 texts is not worth the time to make it smaller.
    { numRuns: inShort(5, 50), endOnFailure: true },
  );
  assert.ok(routed > inShort(100, 500), `only ${routed} texts had a route`);
});
