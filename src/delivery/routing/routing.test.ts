import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { carrierHealth as carrier, routeFacts as facts, routeRule as rule } from '../../../test/support/routes.ts';
import { asksForCountry, type Candidate, type CarrierHealth, type RouteFacts, route } from './routing.ts';
import { emptyTable, type RouteRule } from './table.ts';

const table = (...routes: RouteRule[]) => ({ version: 7, routes });

function candidates(given: Partial<RouteFacts>, routes: RouteRule[], health: CarrierHealth[]): Candidate[] {
  const decision = route(facts(given), { version: routes.length === 0 ? 0 : 7, routes }, health);
  return decision.outcome === 'routed' ? decision.candidates : [];
}
const names = (found: Candidate[]) => found.map(({ name }) => name);

describe('an empty table', () => {
  const order = (...health: CarrierHealth[]) => names(candidates({}, [], health));

  test('without carriers there is none', () =>
    assert.deepEqual(route(facts(), emptyTable, []), { outcome: 'no_carrier' }));

  test('all carriers, by name', () =>
    assert.deepEqual(order(carrier('b'), carrier('c'), carrier('a')), ['a', 'b', 'c']));

  test('carriers that are up come before those that are down, and paused ones last', () => {
    const down = carrier('a', { up: false });
    const paused = carrier('b', { paused: true });
    const pausedAndDown = carrier('0', { paused: true, up: false });
    assert.deepEqual(order(paused, down, pausedAndDown, carrier('z')), ['z', 'a', '0', 'b']);
  });

  test('the first takes all texts; carriers used before come last', () => {
    const both = [carrier('a'), carrier('b')];
    assert.deepEqual(
      candidates({ used: ['a#1'], isCode: true }, [], both).map(({ name, share }) => [name, share]),
      [
        ['b', 1],
        ['a', 0],
      ],
    );
  });
});

describe('which rule', () => {
  const found = (given: Partial<RouteFacts>, ...routes: RouteRule[]) => {
    const decision = route(facts(given), table(...routes), [carrier('a'), carrier('b')]);
    return decision.outcome === 'routed' ? decision.rule?.name : decision.outcome;
  };
  const only = (match: RouteRule['match']) => rule(['a'], { match });

  test('the first that matches', () => {
    assert.equal(found({}, rule(['a'], { match: { countries: ['FR'] } }), rule(['b']), rule(['a'])), 'b');
  });
  test('absent and empty lists match all', () =>
    assert.equal(found({}, only({ countries: [], prefixes: [], apis: [], applications: [], senders: [] })), 'a'));
  test('a number that no rule matches is unroutable', () => {
    const decision = route(facts(), table(only({ countries: ['FR'] })), [carrier('a')]);
    assert.deepEqual(decision, { outcome: 'unroutable', version: 7, rule: null });
  });
  test('countries', () => {
    assert.equal(found({}, only({ countries: ['FR', 'GB'] })), 'a');
    assert.equal(found({ country: undefined }, only({ countries: ['GB'] })), 'unroutable');
  });
  test('a rule matches any of its prefixes', () => {
    assert.equal(found({}, only({ prefixes: ['+33', '+4477'] })), 'a');
    assert.equal(found({}, only({ prefixes: ['+33', '+4478'] })), 'unroutable');
  });
  test('a rule matches its APIs and its applications', () => {
    assert.equal(found({}, only({ apis: ['verify', 'sms'], applications: ['app_a'] })), 'a');
    assert.equal(found({}, only({ apis: ['verify'] })), 'unroutable');
    assert.equal(found({}, only({ applications: ['app_b'] })), 'unroutable');
  });
  test('a rule matches its senders, in any case and with or without a plus', () => {
    assert.equal(found({}, only({ senders: ['Acme'] })), 'a');
    assert.equal(found({ from: '4477' }, only({ senders: ['+4477'] })), 'a');
    assert.equal(found({ from: 'ACME 2' }, only({ senders: ['ACME'] })), 'unroutable');
  });
  test('a text must match all lists of a rule', () =>
    assert.equal(found({}, only({ countries: ['GB'], apis: ['verify'] })), 'unroutable'));
});

describe('which carrier', () => {
  const [a, b, c, f] = ['a', 'b', 'c', 'f'].map((name) => carrier(name)) as [
    CarrierHealth,
    CarrierHealth,
    CarrierHealth,
    CarrierHealth,
  ];
  const down = ({ name }: CarrierHealth) => carrier(name, { up: false });
  const first = rule([['a', 3], 'b'], { failover: ['f', 'c'] });

  test('a rule that has no carrier for the sender makes the text unroutable', () => {
    const decision = route(facts({ senderCarriers: ['c'] }), table(rule(['a'])), [a, c]);
    assert.deepEqual([decision.outcome, 'rule' in decision && decision.rule?.name], ['unroutable', 'a']);
    assert.deepEqual(names(candidates({ senderCarriers: ['c', 'a'] }, [], [a, b, c])), ['a', 'c']);
  });

  test('shares follow the weights; failover has none while the group works', () =>
    assert.deepEqual(
      candidates({ messageId: null }, [first], [a, b, c, f]).map(({ name, group, share }) => [name, group, share]),
      [
        ['a', 'carriers', 0.75],
        ['b', 'carriers', 0.25],
        ['f', 'failover', 0],
        ['c', 'failover', 0],
      ],
    ));

  test('a code goes to failover while the group cannot send; another text waits', () => {
    const health = [down(a), down(b), down(f), c];
    const isFirst = (isCode: boolean) => candidates({ messageId: null, isCode }, [first], health)[0];
    assert.deepEqual([isFirst(true)?.name, isFirst(true)?.share], ['c', 1]);
    assert.deepEqual([isFirst(false)?.name, isFirst(false)?.share], ['a', 0.75]);
  });

  test('a breaker closes a carrier to one country, or to all', () => {
    const firstOf = (open: string[]) => candidates({}, [rule(['a'], { failover: ['f'] })], [{ ...a, open }, f])[0];
    const ofCode = (open: string[]) =>
      candidates({ isCode: true }, [rule(['a'], { failover: ['f'] })], [{ ...a, open }, f])[0]?.name;
    assert.deepEqual([ofCode(['FR']), ofCode(['GB']), ofCode(['*'])], ['a', 'f', 'f']);
    assert.deepEqual([firstOf(['GB'])?.name, firstOf(['GB'])?.available], ['a', false]);
  });

  test("a code's resend takes a carrier that was not used, if one works", () => {
    const order = (used: string[], ...health: CarrierHealth[]) =>
      names(candidates({ isCode: true, used }, [rule(['a'], { failover: ['f'] })], health));
    assert.deepEqual(order(['a#1'], a, f), ['f', 'a']);
    assert.deepEqual(order(['a#1'], a, down(f)), ['a', 'f']);
    assert.deepEqual(order(['a#1', 'f#1'], a, f), ['a', 'f']);
  });

  test('each candidate has a reason', () => {
    const health = [a, down(b), carrier('f', { paused: true }), carrier('c', { open: ['GB'] })];
    const reasons = candidates({ messageId: null, used: ['a#1'] }, [first], health).map(({ reason }) => reason);
    assert.deepEqual(reasons, [
      'It is up. Its weight is 3. The text or its verification used it before, so it comes after the others.',
      'It is down: texts wait in its queue. Its weight is 1.',
      'Too many texts to this country failed, so it rests for a moment. It takes only texts that must leave their carrier.',
      'It is paused: texts wait in its queue. It takes only texts that must leave their carrier.',
    ]);
  });

  test('a carrier that the node does not know yet is left out', () =>
    assert.deepEqual(names(candidates({}, [rule(['a', 'new'])], [a])), ['a']));

  test('the rewritten sender comes with the decision', () => {
    const decision = route(facts(), table(rule(['a'], { from: 'Other' })), [a]);
    assert.equal(decision.outcome === 'routed' && decision.from, 'Other');
  });

  test('hours defer a text that is not urgent', () => {
    const hours = { from: '08:00', to: '20:00', days: [], zone: 'UTC' };
    const until = (given: Partial<RouteFacts>) => {
      const decision = route(facts(given), table(rule(['a'], { hours })), [a]);
      return decision.outcome === 'routed' ? decision.deferredUntilMs : undefined;
    };
    const nowMs = Date.UTC(2026, 0, 5, 21);
    assert.equal(until({}), null);
    assert.equal(until({ nowMs }), Date.UTC(2026, 0, 6, 8));
    assert.equal(until({ nowMs, urgent: true }), null);
  });

  test('of many texts each carrier gets its share', () => {
    const counts = new Map<string, number>();
    for (let text = 0; text < 4000; text++) {
      const [chosen] = candidates({ messageId: `msg_${text}` }, [first], [a, b, c, f]);
      counts.set(chosen?.name ?? '', (counts.get(chosen?.name ?? '') ?? 0) + 1);
    }
    // The ids are fixed, so this can't fail by chance; 4 standard deviations are 110.
    assert.ok(Math.abs((counts.get('a') ?? 0) - 3000) < 110, `a got ${counts.get('a')} of 4000`);
    assert.equal((counts.get('a') ?? 0) + (counts.get('b') ?? 0), 4000);
  });
});

describe('for all texts, tables and states', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const health = fc
    .uniqueArray(
      fc.record({
        name,
        paused: fc.boolean(),
        up: fc.boolean(),
        open: fc.subarray(['GB', 'FR', '*'], { maxLength: 1 }),
      }),
      { selector: (each) => each.name },
    )
    .map((all) => all.map((each) => ({ ...each, key: `${each.name}#1` })));
  const group = fc.uniqueArray(fc.record({ carrier: name, weight: fc.integer({ min: 1, max: 10 }) }), {
    selector: (each) => each.carrier,
    minLength: 1,
    maxLength: 4,
  });
  const aRule = fc
    .record({ carriers: group, failover: fc.uniqueArray(name), countries: fc.subarray(['GB', 'FR']) })
    .map(({ carriers, failover, countries }) => {
      const others = failover.filter((each) => !carriers.some(({ carrier: own }) => own === each));
      return { ...rule([]), carriers, failover: others, match: { countries } };
    });
  const someFacts = fc
    .record({
      messageId: fc.uuid(),
      country: fc.constantFrom('GB', 'FR', 'US'),
      isCode: fc.boolean(),
      used: fc.subarray(['a#1', 'b#1']),
    })
    .map(facts);

  test('bad health moves a carrier back, and carriers of equal health keep their order', () => {
    fc.assert(
      fc.property(someFacts, fc.array(aRule, { minLength: 1, maxLength: 4 }), health, (given, routes, carriers) => {
        const found = candidates(given, routes, carriers);
        const healthy = candidates(
          { ...given, used: [] },
          routes,
          carriers.map(({ name: each }) => carrier(each)),
        );
        assert.deepEqual(new Set(names(found)), new Set(names(healthy)));
        const rank = new Map(healthy.map((each, index) => [each.name, index]));
        const stateOf = (each: Candidate) => {
          const { paused, up, open } = carriers.find((one) => one.name === each.name) as CarrierHealth;
          return `${each.group} ${paused} ${paused || up} ${open} ${given.used.includes(each.key)}`;
        };
        for (const [index, one] of found.entries())
          for (const other of found.slice(index + 1))
            if (stateOf(one) === stateOf(other))
              assert.ok((rank.get(one.name) ?? 0) < (rank.get(other.name) ?? 0), `${one.name}, ${other.name}`);
      }),
    );
  });

  test('the first choice agrees with a model', () => {
    fc.assert(
      fc.property(someFacts, fc.array(aRule, { maxLength: 4 }), health, (given, routes, carriers) => {
        const decision = route(given, { version: routes.length, routes }, carriers);
        const wanted = outcomeByModel(given, routes, carriers);
        assert.equal(decision.outcome, wanted);
        if (decision.outcome !== 'routed') return;
        const [chosen] = decision.candidates;
        const works = decision.candidates.filter(({ available }) => available);
        const inGroup = decision.candidates.filter((each) => each.group === 'carriers');
        // A code always has a carrier that works, if there is one. Another text leaves its group for none.
        if (given.isCode) assert.equal(chosen?.available, works.length > 0);
        else if (inGroup.length > 0) assert.equal(chosen?.group, 'carriers');
        if (given.isCode && works.some(({ key }) => !given.used.includes(key)))
          assert.ok(!given.used.includes(chosen?.key ?? ''), 'a resend takes one that was not used');
        const total = decision.candidates.reduce((sum, { share }) => sum + share, 0);
        assert.ok(Math.abs(total - 1) < 1e-9, `the shares make ${total}`);
        assert.ok((chosen?.share ?? 0) > 0, 'the chosen one has a share');
      }),
    );
  });

  test('the country changes nothing where the decision does not ask for it', () => {
    fc.assert(
      fc.property(someFacts, fc.array(aRule, { maxLength: 2 }), health, (given, routes, carriers) => {
        const table = { version: 1, routes };
        fc.pre(!asksForCountry(table, carriers));
        const withoutCountry = { ...given, country: undefined };
        assert.deepEqual(route(withoutCountry, table, carriers), route(given, table, carriers));
      }),
    );
  });

  test('the order of the carriers given does not matter', () => {
    fc.assert(
      fc.property(someFacts, fc.array(aRule, { maxLength: 3 }), health, (given, routes, carriers) => {
        const inOrder = route(given, { version: 1, routes }, carriers);
        assert.deepEqual(route(given, { version: 1, routes }, carriers.toReversed()), inOrder);
      }),
    );
  });
});

function outcomeByModel({ country }: RouteFacts, routes: RouteRule[], carriers: CarrierHealth[]): string {
  if (carriers.length === 0) return 'no_carrier';
  if (routes.length === 0) return 'routed';
  for (const { match, carriers: own, failover } of routes) {
    if (match.countries?.length !== 0 && !match.countries?.includes(country ?? '')) continue;
    const named = [...own.map((each) => each.carrier), ...failover];
    return carriers.some(({ name }) => named.includes(name)) ? 'routed' : 'unroutable';
  }
  return 'unroutable';
}
