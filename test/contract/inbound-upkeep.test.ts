// Section 15 of the contract: what is left of texts from phones and opt-outs after the retention time, and settings.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { run } from '../support/commands.ts';
import { send } from '../support/developer.ts';
import { createProduction } from '../support/production.ts';
import { createSender, dumpAll, type Page, type Sender } from '../support/texts.ts';

let app: TestApp;
let who: Sender;
const env = { HELIOGRAPH_RETENTION_DAYS: '2', HELIOGRAPH_KEEP_DAYS: '14', HELIOGRAPH_OPT_OUT_VERIFY: 'true' };
before(async () => {
  app = await createTestApp({ delivery: 'held', env });
  who = await createSender(app);
});
after(() => app.close());

const upkeep = () => app.delivery.maintenance.runAll();
const runAll = () => app.delivery.workers()[0]?.runUntilIdle();

/** The phone gets a text from ACME and answers it. */
async function answered(phone: string, message: string): Promise<void> {
  await who.sms({ to: phone });
  await runAll();
  const body = { from: phone, to: 'ACME', message };
  const { status } = await send(app, 'POST', '/sandbox/v1/inbox/replies', { body, headers: who.key });
  assert.equal(status, 201);
}

interface Record {
  from: string;
  number: string;
  message: string | null;
}
const list = async (path: string) => (await send<Page<Record>>(app, 'GET', path, { headers: who.key })).body.data;

describe('retention', () => {
  test('masks numbers and texts, keeps opt-outs as hashes, and deletes records later', async () => {
    const phone = '+447700955501';
    await answered(phone, 'A secret answer');
    app.clock.advance(60_000);
    await answered(phone, 'STOP');
    await runAll();
    app.clock.advance(2 * dayMs - 60_001);
    await upkeep();
    assert.equal((await list('/sms/v1/inbound')).at(-1)?.message, 'A secret answer');
    app.clock.advance(60_002);
    await upkeep();
    const dump = await dumpAll(app);
    for (const needle of [phone, 'A secret answer']) assert.ok(!dump.includes(needle), `${needle} is still there`);
    const [record] = await list('/sms/v1/inbound');
    assert.deepEqual([record?.from, record?.message], ['+4477•••••501', null]);
    assert.equal((await list('/sms/v1/opt-outs'))[0]?.number, '+4477•••••501');
    assert.equal((await list(`/sms/v1/opt-outs?to=${encodeURIComponent(phone)}`))[0]?.number, phone);
    assert.equal((await who.sms({ to: phone })).body.error?.code, 'blocked_by_recipient');
    app.clock.advance(12 * dayMs);
    await upkeep();
    assert.deepEqual(await list('/sms/v1/inbound'), []);
    assert.equal((await who.sms({ to: phone })).body.error?.code, 'blocked_by_recipient');
  });

  test('npm run forget covers them at once', async () => {
    const phone = '+447700955502';
    await answered(phone, 'Forget me');
    app.clock.advance(60_000);
    await answered(phone, 'Stop');
    await runAll();
    assert.match(await run(app, 'forget', phone), /2 inbound texts/);
    const dump = await dumpAll(app);
    for (const needle of [phone, 'Forget me']) assert.ok(!dump.includes(needle), `${needle} is still there`);
    assert.equal((await who.sms({ to: phone })).body.error?.code, 'blocked_by_recipient');
  });
});

test('HELIOGRAPH_OPT_OUT_VERIFY=true keeps codes from people who opted out', async () => {
  const phone = '+447700955503';
  await answered(phone, 'STOP');
  await runAll();
  const headers = bearer(await getToken(app, who.client, 'verify:manage'));
  const body = { to: phone, channel: 'sms' };
  const started = await send<{ id: string }>(app, 'POST', '/verify/v1/verifications', { body, headers });
  assert.equal(started.status, 200, JSON.stringify(started.body));
  await runAll();
  const inbox = await list(`/sandbox/v1/inbox?to=${encodeURIComponent(phone)}`);
  // The first text and the confirmation.
  assert.equal(inbox.length, 2);
});

test('in production an application may send from a number that it was given, as long as it has it', async (t) => {
  const { app: production, operator, createCaller } = await createProduction();
  t.after(() => production.close());
  const acme = await createCaller({ apis: ['sms'] });
  const path = `/portal/v1/operator/numbers/${encodeURIComponent('+447800900000')}`;
  const sent = async () => (await acme.sms({ from: '447800900000' })).status;
  assert.equal(await sent(), 400, 'it does not hold the sender');
  assert.equal((await operator.send('PUT', path, { application_id: acme.id })).status, 200);
  assert.equal(await sent(), 201, 'the sender is right');
  assert.equal((await operator.send('DELETE', path)).status, 204);
  assert.equal(await sent(), 400, 'it is taken back');
});
