import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { createTestLog } from '../../../test/support/log.ts';
import { createMaintenance } from './maintenance.ts';

test('stop ends the pause after a slow piece', { timeout: 10_000 }, async () => {
  const clock = createTestClock();
  let pieceDone = () => {};
  const paused = new Promise<void>((resolve) => {
    pieceDone = resolve;
  });
  const maintenance = createMaintenance({
    chores: [
      {
        name: 'slow',
        everyMs: 1,
        runPiece: async () => {
          clock.advance(60_000);
          pieceDone();
          return 1;
        },
      },
    ],
    clock,
    log: createTestLog().log,
    onCount: () => {},
  });
  // The timers of chores do not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  maintenance.start();
  await paused;
  await maintenance.stop();
  assert.equal(await maintenance.stop(), undefined, 'a second stop ends as well');
  clearInterval(alive);
});
