import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstView, type Look, learn } from './horizon-rule.ts';

const quiet: Look = {
  last: 10,
  writers: new Set(),
  loggedTo: 100,
  onDiskTo: 100,
  oldestConnection: 'one',
};

test('a look without writers, whose log is on disk, proves its own position', () => {
  assert.deepEqual(learn(firstView, quiet), { safe: 10, earlier: undefined, lacksLog: false });
});

test('a look with writers is proved by a later one that does not find them', () => {
  const first = learn(firstView, { ...quiet, writers: new Set(['7']) });
  assert.equal(first.safe, 0);
  const second = learn(first, { ...quiet, last: 12, writers: new Set(['7', '8']) });
  assert.equal(second.safe, 0, 'one of them still runs');
  const third = learn(second, { ...quiet, last: 13, writers: new Set(['9']) });
  assert.equal(third.safe, 10, 'the position of the look that is proved');
  assert.equal(learn(third, { ...quiet, last: 13, writers: new Set(['10']) }).safe, 13);
});

test('a position waits for its log, and the next look is told to write it', () => {
  const first = learn(firstView, { ...quiet, onDiskTo: 90 });
  assert.deepEqual([first.safe, first.lacksLog], [0, false], 'somebody else may bring it to disk at once');
  const second = learn(first, { ...quiet, last: 11, loggedTo: 120, onDiskTo: 99 });
  assert.deepEqual([second.safe, second.lacksLog], [0, true]);
  const third = learn(second, { ...quiet, last: 12, loggedTo: 130, onDiskTo: 100 });
  assert.deepEqual([third.safe, third.lacksLog], [10, false]);
});

test('nothing is compared with a look from before a crash', () => {
  const first = learn(firstView, { ...quiet, writers: new Set(['7']) });
  const second = learn(first, { ...quiet, last: 4, writers: new Set(['8']), oldestConnection: 'two' });
  assert.equal(second.safe, 0);
  assert.equal(learn(second, { ...quiet, last: 5, oldestConnection: 'two' }).safe, 5);
});

test('the position never goes back', () => {
  assert.equal(learn(learn(firstView, quiet), { ...quiet, last: 8 }).safe, 10);
});
