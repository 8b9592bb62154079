import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LeaseState, leaseStates } from './lease.ts';

const states = Object.keys(leaseStates) as LeaseState[];

function reachableFrom(first: LeaseState): Set<LeaseState> {
  const reached = new Set([first]);
  for (const state of reached) for (const next of Object.values(leaseStates[state])) reached.add(next);
  return reached;
}

test('every state of a lease can be reached, and leads to its end', () => {
  assert.deepEqual(reachableFrom('calling'), new Set(states));
  for (const state of states) assert.ok(reachableFrom(state).has('ended'), state);
  assert.deepEqual(leaseStates.ended, {});
});

test('a lease that is ending begins no calls again', () => {
  for (const ending of states.filter((state) => state !== 'calling' && state !== 'stalled')) {
    assert.ok(!reachableFrom(ending).has('calling'), ending);
  }
});

test('a lost claim stays lost', () => {
  assert.deepEqual(reachableFrom('lost'), new Set(['lost', 'ended']));
});
