import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { type CallHandlers, createProcessCalls, type ProcessCalls } from './calls.ts';
import { createDeathWatch } from './death-watch.ts';

/** Both sides, with messages as they come out of Node's channel. */
function createPair(handlers: CallHandlers): { near: ProcessCalls; far: ProcessCalls } {
  const through = (to: () => ProcessCalls) => (message: object) => {
    const text = JSON.stringify(message);
    setImmediate(() => to().receive(JSON.parse(text)));
  };
  const near: ProcessCalls = createProcessCalls(
    through(() => far),
    {},
  );
  const far: ProcessCalls = createProcessCalls(
    through(() => near),
    handlers,
  );
  return { near, far };
}

test('calls get their own answers, also when these come in another order', async () => {
  const { near } = createPair({
    wait: async (ms: number) => {
      await new Promise((done) => setTimeout(done, ms));
      return ms;
    },
    fail: () => {
      throw new Error('the port is taken');
    },
  });
  const answers = await Promise.all([near.call('wait', 6), near.call('wait', 1), near.call('wait', 3)]);
  assert.deepEqual(answers, [6, 1, 3]);
  await assert.rejects(near.call('fail'), /the port is taken/);
});

test('a call ends with its time, and with the other side', async () => {
  const { near } = createPair({ never: () => new Promise(() => {}) });
  await assert.rejects(near.call('never', undefined, 1), /did not answer: never/);
  const waiting = near.call('never');
  near.end();
  await assert.rejects(waiting, /has ended/);
  await assert.rejects(near.call('never'), /has ended/);
});

test('the fifth death within ten seconds is one too many', () => {
  const clock = createTestClock();
  const deaths = createDeathWatch(clock);
  for (let death = 0; death < 20; death++) {
    assert.equal(deaths.isOneTooMany(), false, 'one every 2.5 s is replaced for ever');
    clock.advance(2500);
  }
  clock.advance(10_000);
  assert.deepEqual(
    Array.from({ length: 5 }, () => deaths.isOneTooMany()),
    [false, false, false, false, true],
  );
});
