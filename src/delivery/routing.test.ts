import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type RoutableCarrier, route } from './routing.ts';

const carrier = (name: string, given: Partial<RoutableCarrier> = {}): RoutableCarrier => ({
  key: `${name}#1`,
  name,
  paused: false,
  up: true,
  ...given,
});
const order = (...carriers: RoutableCarrier[]) =>
  route({ to: '+447700900123' }, carriers).map(({ carrier: { name } }) => name);

describe('route', () => {
  test('without carriers there is none', () => assert.deepEqual(order(), []));

  test('all carriers, by name', () =>
    assert.deepEqual(order(carrier('b'), carrier('c'), carrier('a')), ['a', 'b', 'c']));

  test('those that are up before those that are down, and paused ones last', () => {
    const down = carrier('a', { up: false });
    const paused = carrier('b', { paused: true });
    const pausedAndDown = carrier('0', { paused: true, up: false });
    assert.deepEqual(order(paused, down, pausedAndDown, carrier('z')), ['z', 'a', '0', 'b']);
  });

  test('each has a reason', () => {
    const routed = route({ to: '+447700900123' }, [
      carrier('a'),
      carrier('b', { up: false }),
      carrier('c', { paused: true }),
    ]);
    assert.deepEqual(
      routed.map(({ reason }) => reason),
      ['It is up.', 'It is down: texts wait in its queue.', 'It is paused: texts wait in its queue.'],
    );
  });

  test('it loses none, adds none, and does not depend on the order given', () => {
    const name = fc.string({ minLength: 1, maxLength: 5 });
    const carriers = fc.uniqueArray(fc.record({ key: name, name, paused: fc.boolean(), up: fc.boolean() }), {
      selector: (each) => each.name,
    });
    fc.assert(
      fc.property(carriers, (given) => {
        const there = order(...given);
        assert.deepEqual(order(...given.toReversed()), there);
        assert.deepEqual(new Set(there), new Set(given.map((each) => each.name)));
        assert.equal(there.length, given.length);
      }),
    );
  });
});
