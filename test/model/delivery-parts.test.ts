import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inShort } from '../support/effort.ts';
import { exploreParts } from './delivery/explore-parts.ts';
import { exploreDelivery } from './delivery/model.ts';
import type { Settings } from './delivery/state.ts';

const plain: Settings = { nodes: 2, texts: ['code'], onDoubt: 'resend', mostFaults: 1, mostReceipts: 0 };

/** Together they have every kind of step, fault and text. delivery.test.ts shows that it finds the same runs. */
const settingsToCompare: Record<string, Partial<Settings>> = {
  'a code': { kinds: ['disconnect', 'death', 'rejection'] },
  'a long text that is held, lost answers and stalls': {
    nodes: inShort(1, 2),
    texts: ['long'],
    onDoubt: 'hold',
    kinds: ['lost answer', 'stall'],
  },
  'one node, both texts, one of them scheduled, one carrier': {
    nodes: 1,
    texts: ['code', 'long'],
    scheduled: ['long'],
    onDoubt: 'hold',
    mostFaults: 0,
    down: ['b'],
  },
  'carriers that never come up': { mostFaults: 0, down: ['a', 'b'] },
  'a scheduled text, a wrong clock': { texts: ['long'], scheduled: ['long'], kinds: ['clock'] },
};

const further: Record<string, Partial<Settings>> = {
  'one node, both texts, one carrier': { nodes: 1, texts: ['code', 'long'], mostFaults: 0, down: ['b'] },
  'one node, both texts': { nodes: 1, texts: ['code', 'long'], mostFaults: 0 },
  'one node, both texts, silence': { nodes: 1, texts: ['code', 'long'], kinds: ['silence'] },
  'a code, one fault': {},
  'a code, two faults': { mostFaults: 2 },
  'a long text, two faults': { texts: ['long'], mostFaults: 2 },
  'both texts, no fault': { texts: ['code', 'long'], mostFaults: 0 },
  'both texts, lost answers and silence': { texts: ['code', 'long'], kinds: ['lost answer', 'silence'] },
};

describe('the explorer that remembers parts visits the same states', () => {
  for (const [name, changes] of Object.entries({ ...settingsToCompare, ...inShort({}, further) }))
    test(name, () => {
      const settings = { ...plain, ...changes };
      assert.deepEqual(exploreParts(settings), exploreDelivery(settings));
    });
});
