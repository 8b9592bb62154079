import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteRule } from '../../api/operator-types.ts';
import { movedRules } from './moved-rules.ts';

const rule = (name: string, carriers: [string, number][], failover: string[] = []): RouteRule => ({
  name,
  match: {},
  carriers: carriers.map(([carrier, weight]) => ({ carrier, weight })),
  failover,
  failover_bulk: false,
  from: null,
  hours: null,
});

test('the chosen rules give the texts of a carrier to another, with its weight', () => {
  const rules = [rule('uk', [['acme', 3]]), rule('fr', [['acme', 1]]), rule('rest', [['spare', 1]])];
  const after = movedRules(rules, 'acme', 'bell', new Set(['uk', 'rest']));
  assert.deepEqual(after[0]?.carriers, [{ carrier: 'bell', weight: 3 }]);
  assert.equal(after[1], rules[1], 'a rule that was not chosen stays');
  assert.equal(after[2], rules[2], 'a rule without the carrier stays');
});

test('a rule names each carrier once: weights are added, and failover has no carrier that sends first', () => {
  const rules = [
    rule(
      'both',
      [
        ['acme', 3],
        ['bell', 1],
      ],
      ['bell', 'spare'],
    ),
    rule('failover', [['spare', 1]], ['acme', 'bell']),
    rule('promoted', [['acme', 1000]], ['bell', 'acme']),
  ];
  const before = structuredClone(rules);
  const names = new Set(rules.map(({ name }) => name));
  const after = movedRules(rules, 'acme', 'bell', names);
  assert.deepEqual(after[0]?.carriers, [{ carrier: 'bell', weight: 4 }]);
  assert.deepEqual(after[0]?.failover, ['spare']);
  assert.deepEqual(after[1]?.failover, ['bell']);
  assert.deepEqual([after[2]?.carriers, after[2]?.failover], [[{ carrier: 'bell', weight: 1000 }], []]);
  assert.deepEqual(rules, before, 'the rules before are unchanged');
});
