// Section 12 of the contract: the events of a record in the portal, and to which webhooks they were delivered.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EventsPage } from '../../src/portal/developer/event-api.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRunningClock } from '../support/clock.ts';
import { signUp } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { answer, createWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let app: TestApp;
let acme: Sender;
let good: WebhookReceiver;
let bad: WebhookReceiver;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  [acme, good, bad] = await Promise.all([
    createSender(app, { apis: ['sms'] }),
    createWebhookReceiver(),
    createWebhookReceiver(answer(500)),
  ]);
});
after(async () => {
  await app.close();
  await Promise.all([good.close(), bad.close()]);
});

async function addWebhook(url: string, types: string[] = []): Promise<string> {
  const path = `/portal/v1/applications/${acme.id}/webhooks`;
  const { status, body } = await acme.developer.send<{ id: string }>('POST', path, { url, types });
  assert.equal(status, 201);
  return body.id;
}

const eventsOf = async (subject: string) => {
  const path = `/portal/v1/applications/${acme.id}/events?subject=${subject}`;
  const { status, body } = await acme.developer.send<EventsPage>('GET', path);
  assert.equal(status, 200);
  return body.data;
};

test('without a webhook there are events and no deliveries', async () => {
  await eventsOf('msg_01m7j613g800qy48dcqvezp2d4');
  const { body } = await acme.sms();
  const events = await eventually('both events', async () => {
    const found = await eventsOf(body.id);
    return found.length === 2 ? found : undefined;
  });
  for (const { deliveries } of events) assert.deepEqual(deliveries, []);
});

test('each event names the webhooks that were called, with status and attempts', async () => {
  const all = await addWebhook(good.url);
  const some = await addWebhook(bad.url, ['message.delivered']);
  const { body } = await acme.sms();
  const [sent, delivered] = await eventually('all deliveries', async () => {
    const found = await eventsOf(body.id);
    const counts = found.map(({ deliveries }) => deliveries.length);
    return counts.join() === '1,2' ? found : undefined;
  });
  const first = { webhook_id: all, url: good.url, status: 'delivered', attempts: 1 };
  assert.deepEqual([sent?.type, sent?.deliveries], ['message.sent', [first]]);
  assert.equal(delivered?.type, 'message.delivered');
  const [one, other] = delivered?.deliveries ?? [];
  assert.deepEqual(one, first);
  assert.deepEqual([other?.webhook_id, other?.url, other?.status], [some, bad.url, 'waiting']);
  assert.ok((other?.attempts ?? 0) >= 1, 'it was tried');
});

test('another account finds nothing', async () => {
  const eve = await signUp(app);
  const { status } = await eve.send('GET', `/portal/v1/applications/${acme.id}/events`);
  assert.equal(status, 404);
});
