import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestLog } from '../../../test/support/log.ts';
import type { OutgoingText } from '../carrier/carrier.ts';
import { createSandboxCarrier } from './carrier.ts';

/** Its receipt comes ten seconds later than others. */
const late = { to: '+15005550110', applicationId: 'app', messageId: 'msg', attempt: 1 } as OutgoingText;
const turn = () => new Promise((done) => setImmediate(done));

test('every submit with a late receipt has a look when it is due', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const looks: number[] = [];
  const phones = {
    receive: async () => {},
    reportDue: async () => {
      looks.push(nowMs);
      return 0;
    },
  };
  const carrier = createSandboxCarrier(phones, createTestLog().log);
  carrier.start(
    async () => {},
    () => {},
    async () => {},
  );
  await carrier.submit([late], () => {});
  while (nowMs < 20_000) {
    nowMs += 5;
    t.mock.timers.tick(5);
    await turn();
    if (nowMs === 5000) await carrier.submit([late, late], () => {});
  }
  assert.ok(looks.includes(10_105), `the first is due after 10,105 ms: ${looks.join(', ')}`);
  assert.ok(looks.includes(15_105), `the second after 15,105 ms: ${looks.join(', ')}`);
  await carrier.stop();
});
