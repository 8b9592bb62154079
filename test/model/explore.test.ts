import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explore } from './explore.ts';

/** Two counters that go up to a bound; the second may also be cleared. */
const counters = (most: number) => ({
  initial: [[0, 0]],
  steps: ([one = 0, other = 0]: number[]) => [
    ...(one < most ? [{ name: 'one', next: [one + 1, other] }] : []),
    ...(other < most ? [{ name: 'other', next: [one, other + 1] }] : []),
    ...(other > 0 ? [{ name: 'clear', next: [one, 0] }] : []),
  ],
  canonical: (state: number[]) => state.join(),
  invariants: () => undefined as string | undefined,
});

test('every state is visited once', () => {
  assert.deepEqual(explore(counters(300)), { states: 301 * 301, depth: 600 });
});

test('the run that breaks an invariant is the shortest', () => {
  const { violation } = explore({
    ...counters(5),
    invariants: ([one, other]) => (one === 2 && other === 1 ? 'two and one' : undefined),
  });
  assert.equal(violation?.message, 'two and one');
  assert.deepEqual(violation?.run.toSorted(), ['one', 'one', 'other']);
});

test('a state from which no end can be reached is a violation', () => {
  const isEnd = ([one, other]: number[]) => one === 2 && other === 2;
  assert.equal(explore({ ...counters(2), isEnd }).violation, undefined);
  const { violation } = explore({ ...counters(3), isEnd });
  assert.deepEqual(violation, { run: ['one', 'one', 'one'], message: 'no run from here comes to an end' });
});

test('a model that grows without end is stopped', () => {
  assert.throws(() => explore({ ...counters(Number.POSITIVE_INFINITY), mostStates: 1000 }), /more than 1000 states/);
});
