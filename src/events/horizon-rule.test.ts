import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstView, learn, type Poll } from './horizon-rule.ts';

const quiet: Poll = {
  last: 10,
  writers: new Set(),
  loggedTo: 100,
  onDiskTo: 100,
  oldestConnection: 'one',
};

test('a poll without writers and with its log on disk proves its own position', () => {
  assert.deepEqual(learn(firstView, quiet), { safe: 10, earlier: undefined, lacksLog: false });
});

test('a poll with writers is proved by a later poll without them', () => {
  const first = learn(firstView, { ...quiet, writers: new Set(['7']) });
  assert.equal(first.safe, 0);
  const second = learn(first, { ...quiet, last: 12, writers: new Set(['7', '8']) });
  assert.equal(second.safe, 0, 'one of them still runs');
  const third = learn(second, { ...quiet, last: 13, writers: new Set(['9']) });
  assert.equal(third.safe, 10, 'the position of the proved poll');
  assert.equal(learn(third, { ...quiet, last: 13, writers: new Set(['10']) }).safe, 13);
});

test('a position waits for its log, and the next poll writes it', () => {
  const first = learn(firstView, { ...quiet, onDiskTo: 90 });
  assert.deepEqual([first.safe, first.lacksLog], [0, false], 'another commit may flush it');
  const second = learn(first, { ...quiet, last: 11, loggedTo: 120, onDiskTo: 99 });
  assert.deepEqual([second.safe, second.lacksLog], [0, true]);
  const third = learn(second, { ...quiet, last: 12, loggedTo: 130, onDiskTo: 100 });
  assert.deepEqual([third.safe, third.lacksLog], [10, false]);
});

test('a poll from before a crash is not compared', () => {
  const first = learn(firstView, { ...quiet, writers: new Set(['7']) });
  const second = learn(first, { ...quiet, last: 4, writers: new Set(['8']), oldestConnection: 'two' });
  assert.equal(second.safe, 0);
  assert.equal(learn(second, { ...quiet, last: 5, oldestConnection: 'two' }).safe, 5);
});

test('the position never goes back', () => {
  assert.equal(learn(learn(firstView, quiet), { ...quiet, last: 8 }).safe, 10);
});
