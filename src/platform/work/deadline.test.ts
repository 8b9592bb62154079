import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { deadlineIn, inTime } from './deadline.ts';

const late = () => new Error('late');

test('a step in time resolves or fails as it does, and one that is late rejects', async () => {
  const clock = createTestClock();
  const deadline = deadlineIn(5, clock, late);
  assert.equal(await inTime(deadline, Promise.resolve('done')), 'done');
  await assert.rejects(inTime(deadline, Promise.reject(new Error('failed'))), /failed/);
  const never = inTime(deadline, new Promise(() => {}));
  clock.advance(5);
  await assert.rejects(never, /late/);
  await assert.rejects(inTime(deadline, new Promise(() => {})), /late/, 'its time is over for every step');
});

test('without a deadline a step takes its time', async () => {
  assert.equal(await inTime(undefined, Promise.resolve(1)), 1);
});
