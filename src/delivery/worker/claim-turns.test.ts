import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaimTurns } from './claim-turns.ts';

function createTurns() {
  let nowMs = 1000;
  const turns = createClaimTurns({ steadyMs: () => nowMs });
  return { ...turns, pass: (ms: number) => (nowMs += ms) };
}

test('under load claims come 40 ms apart', () => {
  const { take, pass } = createTurns();
  assert.deepEqual([take(), take(), take()], [0, 40, 40]);
  pass(100);
  assert.equal(take(), 20, 'three turns were taken, the last one for 40 ms from now');
});

test('a text that comes after an empty claim has no wait', () => {
  const { take, noteEmpty, pass } = createTurns();
  assert.equal(take(), 0, 'the first text');
  assert.equal(take(), 40, 'the poll behind it');
  pass(40);
  noteEmpty();
  pass(10);
  assert.equal(take(), 0, 'the next text');
});
