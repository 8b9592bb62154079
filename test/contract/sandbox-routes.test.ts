// Routes in the sandbox, where the virtual handsets are a carrier that routes may name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createKnownCarriers } from '../support/known-carriers.ts';
import { createOperator } from '../support/operator.ts';

let app: TestApp;
let operator: TestDeveloper;
let caller: TestApplication;
before(async () => {
  app = await createTestApp();
  operator = await createOperator(app);
  caller = await createRegistered(app, ['sms']);
});
after(() => app.close());

const headers = () => ({ apikey: caller.apiKey });
const sendTo = (to: string) =>
  send<{ id: string; from: string; status: string; code: string }>(app, 'POST', '/sms/v1/messages', {
    body: { to, from: 'ACME', message: 'Hi' },
    headers: headers(),
  });

test('a route may name the sandbox: its sender arrives, other countries are refused, test numbers work on', async () => {
  const { putRoutes } = createKnownCarriers(app, operator);
  const version = await putRoutes([
    { name: 'uk', match: { countries: ['GB'] }, carriers: [{ carrier: 'sandbox' }], from: '80123' },
  ]);
  const { status, body } = await sendTo('+447700900123');
  assert.deepEqual([status, body.from], [201, 'ACME']);
  const readInbox = () =>
    send<{ data: { from: string; message_id: string }[] }>(app, 'GET', '/sandbox/v1/inbox', { headers: headers() });
  await eventually('the text arrives', async () => (await readInbox()).body.data.length > 0);
  const inbox = await readInbox();
  assert.deepEqual(
    inbox.body.data.map(({ from, message_id }) => [from, message_id]),
    [['80123', body.id]],
  );
  const refused = await sendTo('+33612345678');
  assert.deepEqual([refused.status, refused.body.code], [400, 'UNROUTABLE_DESTINATION']);
  assert.equal((await sendTo('+15005550100')).status, 201);
  const explained = await operator.send<{ version: number; chosen: string; rule: { name: string } }>(
    'POST',
    '/portal/v1/operator/routes/explain',
    { message_id: body.id },
  );
  assert.deepEqual(
    [explained.body.version, explained.body.chosen, explained.body.rule.name],
    [version, 'sandbox', 'uk'],
  );
});
