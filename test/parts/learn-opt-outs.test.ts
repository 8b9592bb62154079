import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInbound } from '../../src/compose/inbound.ts';
import { learnOptOuts } from '../../src/compose/learn-opt-outs.ts';
import { maskNumber } from '../../src/messages/numbers/phone-number.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { acceptMessages } from '../support/recording-carrier.ts';

test('a receipt that says that someone opted out teaches nothing once the number is masked', async () => {
  const db = await createTestDatabase();
  const { database } = db;
  const clock = createTestClock();
  const keys = await openTestKeyRing(database, clock);
  const { optOuts } = createInbound({ config: { optOutVerify: false }, database, clock, keys, wake: () => {} });
  const learn = learnOptOuts(optOuts, database, createTestLog().log);
  const accept = async (to: string) => (await acceptMessages({ database, clock }, 1, { to }))[0]?.id ?? assert.fail();
  // With HELIOGRAPH_RETENTION_DAYS=1 a number is masked before the last receipts come.
  const ids = [await accept(maskNumber('+447700900001')), await accept('+447700900002')];
  learn.fromReceipts(
    ids.map((id) => ({
      ...{ id: uuidOf(id), applicationId: '', sender: 'ACME', to: '', sentAtMs: clock.nowMs() },
      ...{ was: 'sent' as const, now: 'failed' as const, wasUnsent: false, isCode: false, dueAtMs: null },
    })),
  );
  const read = async () =>
    (await database.query<{ number: string }>('select distinct number from opt_out order by number')).rows;
  await eventually('the other one is learnt', async () => (await read()).length > 0);
  assert.deepEqual(await read(), [{ number: '+447700900002' }]);
  await db.drop();
});
