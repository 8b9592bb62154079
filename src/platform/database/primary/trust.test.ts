import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose, type HostView, isDoubted, isProven, noProof } from './trust.ts';

const view = (changes: Partial<HostView>): HostView => ({
  isStandby: false,
  timeline: 1,
  system: '7',
  startedAt: 'monday',
  isSynchronous: true,
  ...changes,
});

test('the host that takes writes on the highest timeline is chosen, wherever it stands in the list', () => {
  const primary = ['b', view({ timeline: 2, startedAt: 'tuesday' })] as const;
  const standby = ['a', view({ timeline: 2, isStandby: true })] as const;
  assert.deepEqual(choose([standby, primary], 2), { is: 'found', host: 'b' });
  assert.deepEqual(choose([primary, standby], 2), { is: 'found', host: 'b' });
  assert.deepEqual(choose([standby], 2), { is: 'none' });
});

test('an old primary that wakes up is not chosen, even if it alone answers', () => {
  const old = ['a', view({ timeline: 1 })] as const;
  const next = ['b', view({ timeline: 2, startedAt: 'tuesday' })] as const;
  assert.deepEqual(choose([old, next], 2), { is: 'found', host: 'b' });
  assert.deepEqual(choose([old], 2), { is: 'none' });
});

test('of two that take writes on one timeline neither is chosen, unless both addresses lead to one server', () => {
  const one = ['a', view({ timeline: 2 })] as const;
  assert.deepEqual(choose([one, ['b', view({ timeline: 2, startedAt: 'tuesday' })]], 2), {
    is: 'split',
    hosts: ['a', 'b'],
  });
  assert.deepEqual(choose([one, ['proxy', view({ timeline: 2 })]], 2), { is: 'found', host: 'a' });
});

test('a write proves its host for a second from when it began', () => {
  assert.equal(isProven(noProof, 0), false);
  const proof = { ...noProof, wroteAtMs: 5000 };
  assert.equal(isProven(proof, 6000), true);
  assert.equal(isProven(proof, 6001), false);
});

test('it confirms nothing that was lost since, and ends no trust', () => {
  assert.equal(isDoubted(noProof), true);
  assert.equal(isDoubted({ wroteAtMs: 5000, doubtedAtMs: 5000 }), true);
  assert.equal(isDoubted({ wroteAtMs: 5001, doubtedAtMs: 5000 }), false);
  assert.equal(isProven({ wroteAtMs: 5000, doubtedAtMs: 5001 }, 5500), true);
});
