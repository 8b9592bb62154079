import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMessageRetention } from '../../src/messages/message-retention.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { deleteArrivals } from '../../src/sandbox/handsets.ts';
import { createVerificationRetention } from '../../src/verify/verification-retention.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { dumpAll } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_RETENTION_DAYS: '2' } });
});
after(() => app.close());

const maskAll = () => app.delivery.maintenance.runAll();

test('terminal states stay readable for the retention time; then the number is in no table', async () => {
  const acme = await createVerifyCaller(app);
  const { id, to, code } = await acme.pending();
  await acme.check(id, code);
  app.clock.advance(2 * dayMs);
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
  await createMessageRetention({ database, clock: app.clock, days: 2, deleteArrivals }).forget(to);
  assert.ok(!(await dumpAll(app)).includes(to));
  const { body } = await acme.check(id, code);
  assert.deepEqual([body.status, body.valid], ['canceled', false]);
});
