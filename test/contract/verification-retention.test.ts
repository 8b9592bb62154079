import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMessageRetention } from '../../src/messages/message-retention.ts';
import { dayMs, minuteMs } from '../../src/platform/clock.ts';
import { partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { deleteArrivalsOf } from '../../src/sandbox/handsets.ts';
import { createVerificationRetention } from '../../src/verify/verification-retention.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { dumpAll } from '../support/texts.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_RETENTION_DAYS: '2', HELIOGRAPH_KEEP_DAYS: '14' } });
});
after(() => app.close());

const maskAll = () => app.delivery.maintenance.runAll();

/** Approved, and its text delivered, so that nothing is under way when the clock jumps. A minute has passed then. */
async function approved(caller: VerifyCaller) {
  const { id, to, code } = await caller.pending();
  await caller.check(id, code);
  app.clock.advance(minuteMs);
  await eventually('the text is delivered', async () => (await caller.read(id)).body.delivery?.status === 'delivered');
  return { id, to };
}

test('terminal states stay readable for the retention time; then the number is in no table', async () => {
  const acme = await createVerifyCaller(app);
  const { id, to } = await approved(acme);
  app.clock.advance(2 * dayMs - minuteMs);
  await maskAll();
  const reader = await createVerifyCaller(app, acme);
  assert.deepEqual([(await reader.read(id)).body.status, (await reader.read(id)).body.to], ['approved', to]);
  app.clock.advance(1000);
  await maskAll();
  const { body } = await reader.read(id);
  assert.equal(body.status, 'approved');
  assert.match(body.to, /^\+44.*•/);
  assert.ok(!(await dumpAll(app)).includes(to));
});

test('forgetting a number ends what is open for it and leaves it in no table', async () => {
  const acme = await createVerifyCaller(app);
  const { id, to, code } = await acme.pending();
  const { database } = app.db;
  assert.equal(await createVerificationRetention(database, app.clock, 2).forget(to), 1);
  await createMessageRetention({ database, clock: app.clock, days: 2, deleteArrivalsOf }).forget(to);
  assert.ok(!(await dumpAll(app)).includes(to));
  const { body } = await acme.check(id, code);
  assert.deepEqual([body.status, body.valid], ['canceled', false]);
});

test('the record is gone once its whole week is older than the days to keep', async () => {
  const acme = await createVerifyCaller(app);
  const { id } = await approved(acme);
  app.clock.advance(14 * dayMs + partitionWeekMs);
  await maskAll();
  const reader = await createVerifyCaller(app, acme);
  assert.equal((await reader.read(id)).status, 404);
  const { body } = await reader.send<{ data: unknown[] }>('GET', '/verify/v1/verifications?status=approved');
  assert.deepEqual(body.data, []);
  for (const table of ['verification', 'pending_verification', 'ended_verification', 'recent_failure']) {
    const { rows } = await app.db.database.query(`select from ${table}`);
    assert.equal(rows.length, 0, table);
  }
});
