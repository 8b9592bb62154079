import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteRule } from '../delivery/routing/table.ts';
import { effectOf } from './route-effect.ts';

const rule = (match: RouteRule['match']): RouteRule => {
  return { name: 'a', match, carriers: [], failover: [], failover_bulk: false, from: null, hours: null };
};
const texts = (country: string, count: number, sender = 'ACME') => {
  return { country, sender, applicationId: 'app_1', texts: count };
};

test('texts that no rule matches are refused; without rules all are sent', () => {
  const day = [texts('GB', 10), texts('DE', 5), texts('DE', 2, 'Other'), texts('', 1)];
  assert.deepEqual(
    effectOf([], day).map(({ refused }) => refused),
    [0, 0, 0],
  );
  assert.deepEqual(effectOf([rule({ countries: ['GB'] })], day), [
    { country: 'DE', texts: 7, refused: 7, unsure: 0 },
    { country: '', texts: 1, refused: 1, unsure: 0 },
    { country: 'GB', texts: 10, refused: 0, unsure: 0 },
  ]);
  assert.deepEqual(
    effectOf([rule({ countries: ['GB'] }), rule({})], day).filter(({ refused }) => refused > 0),
    [],
  );
  assert.equal(effectOf([rule({ countries: ['DE'], senders: ['other'] })], day)[0]?.refused, 10);
});

test('a rule for some APIs or prefixes may match: totals have neither', () => {
  assert.deepEqual(effectOf([rule({ countries: ['GB'], apis: ['verify'] })], [texts('GB', 3), texts('DE', 2)]), [
    { country: 'DE', texts: 2, refused: 2, unsure: 0 },
    { country: 'GB', texts: 3, refused: 0, unsure: 3 },
  ]);
  assert.equal(effectOf([rule({ prefixes: ['+447'] })], [texts('GB', 3)])[0]?.unsure, 3);
});
