import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTroubleTimes } from './carriers-now.ts';

test('trouble counts from its beginning, until the carrier has worked for 15 s', () => {
  let nowMs = 1000;
  const times = createTroubleTimes({ steadyMs: () => nowMs });
  const noteAt = (atMs: number, ...keys: string[]) => {
    nowMs = atMs;
    times.note(keys);
    return times.sinceMs('a');
  };
  assert.equal(noteAt(1000, 'b'), null);
  assert.equal(noteAt(5000, 'a', 'b'), 5000);
  assert.equal(noteAt(20_000), null, 'it works');
  assert.equal(noteAt(20_000, 'a'), 5000, 'for less than 15 s: the same trouble');
  assert.equal(noteAt(60_000, 'a'), 5000, 'no poll in between saw it working');
  assert.equal(noteAt(80_000), null);
  assert.equal(noteAt(95_001, 'a'), 95_001, 'it had recovered');
});
