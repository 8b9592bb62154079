// run: with pages
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { alsoInLong } from '../support/effort.ts';
import {
  assertGood,
  createApplication,
  openPortal,
  openTab,
  type Portal,
  register,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';

interface Received {
  type: string;
  subject: string;
  headers: Record<string, string>;
  body: string;
}

let stage: Stage;
let portal: Portal;
let page: Page;
let server: Server;
/** Where the webhook leads: a receiver on loopback, as a developer's laptop has one. */
let url: string;
const received: Received[] = [];
let answerWith = 204;

before(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { type, subject } = JSON.parse(body) as Received;
    received.push({ type, subject, headers: request.headers as Record<string, string>, body });
    response.writeHead(answerWith).end();
  }).listen(0, '127.0.0.1');
  stage = await setStage();
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  portal = await openPortal(stage.browser, stage.service.url);
  page = portal.page;
});
after(async () => {
  await stage.close();
  server.closeAllConnections();
  server.close();
});

/** Whether the receiver could verify what came with this secret. Throws if not. */
function verify({ body, headers }: Received, secret: string): void {
  new Webhook(secret).verify(body, headers);
}

const dialog = () => page.getByRole('dialog');
const toast = (text: string) => page.getByRole('status').getByText(text).waitFor();
const deliveries = () => page.getByRole('region', { name: 'Deliveries' });
const deliveryOf = (type: string): Locator => deliveries().getByRole('listitem').filter({ hasText: type }).first();

async function takeSecret(): Promise<string> {
  const secret = (await dialog().locator('pre').first().textContent()) ?? '';
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  return secret;
}

async function closeDrawer(): Promise<void> {
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'hidden' });
}

/** Sends a text from the page Try it. */
async function sendText(message: string): Promise<void> {
  await openTab(page, 'Try it');
  await page.getByLabel('Message', { exact: true }).fill(message);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('log').getByText(message).waitFor();
}

describe('a developer who wants to know what becomes of texts', () => {
  const secrets: string[] = [];

  test('adds a webhook to a receiver on their own machine, and sees its secret once, with code to verify it', async () => {
    await signUp(page, 'hedy@example.com');
    await createApplication(page, 'ACME');
    const registered = await register(page, 'SMS Messaging');
    await registered.getByRole('button', { name: 'I have copied it' }).click();
    await openTab(page, 'Webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await page.getByText(/^npx --no-install heliograph listen --app app_\w+ --forward-to/).waitFor();
    await page.getByRole('button', { name: 'Copy the id of the application' }).click();
    assert.match(await page.evaluate('navigator.clipboard.readText()'), /^app_\w{26}$/);

    await page.getByRole('button', { name: 'Add webhook' }).click();
    await dialog().getByLabel('URL').fill('nowhere');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    await dialog()
      .getByText(/^Enter a URL like/)
      .waitFor();
    await dialog().getByText('Only some').click();
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    await dialog().getByText('Choose at least one event, or all events.').waitFor();
    await assertGood(page, 'Add a webhook');
    await dialog().getByText('All events', { exact: true }).click();
    await dialog().getByLabel('URL').fill(url);
    await dialog().getByLabel('Description').fill('My laptop');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();

    await dialog().getByText('It will not be shown again').waitFor();
    secrets.push(await takeSecret());
    await dialog().getByRole('button', { name: 'Copy the secret' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secrets[0]);
    for (const [language, word] of [
      ['TypeScript', 'verifyWebhook'],
      ['Python', 'hmac.compare_digest'],
      ['PHP', 'hash_equals'],
    ] as const) {
      await dialog().getByText(language, { exact: true }).click();
      await dialog().locator('pre', { hasText: word }).waitFor();
    }
    await assertGood(page, 'A new secret');
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('heading', { name: 'My laptop' }).waitFor();
    await page.getByText('No deliveries yet').waitFor();
  });

  test('sends a test, and reads the answer of the receiver beside the button', async () => {
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/204 in \d+ ms$/).waitFor();
    const [sent] = received;
    assert.equal(sent?.type, 'webhook.test');
    verify(sent as Received, secrets[0] as string);
    answerWith = 500;
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/500 in \d+ ms/).waitFor();
    answerWith = 204;
  });

  test('watches events arrive live, and each of them is delivered', async () => {
    await openTab(page, 'Events');
    await page.getByText('Live', { exact: true }).waitFor();
    await sendText('Is this on?');
    await openTab(page, 'Events');
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('message.sent').waitFor();
    await events.getByText('message.delivered').waitFor();
    await assertGood(page, 'Events');
    await events.getByText('message.delivered').click();
    await dialog().getByText('"status": "delivered"').waitFor();
    await assertGood(page, 'An event');
    await closeDrawer();
    await page.getByLabel('Type').selectOption('message.sent');
    await events.getByText('message.delivered').waitFor({ state: 'hidden' });

    await openTab(page, 'Webhooks');
    await page.getByRole('link', { name: /My laptop/ }).click();
    await deliveryOf('message.delivered').getByText('delivered', { exact: true }).waitFor();
    await assertGood(page, 'A webhook with deliveries');
    await page.getByText(/^npx --no-install heliograph listen --app app_\w+ --forward-to/).waitFor();
    await deliveryOf('message.sent').getByRole('link').click();
    await dialog().getByRole('region', { name: 'Request' }).getByText('webhook-id:').waitFor();
    await dialog().getByRole('region', { name: 'Response' }).getByText('HTTP 204').waitFor();
    const sentBody = await dialog().getByRole('region', { name: 'Request' }).textContent();
    assert.ok(!sentBody?.includes(secrets[0] ?? ''), 'no secret is shown');
    await assertGood(page, 'A delivery');
    await closeDrawer();
    const told = received.filter(({ type }) => type.startsWith('message.'));
    assert.deepEqual(new Set(told.map(({ type }) => type)), new Set(['message.sent', 'message.delivered']));
    for (const each of told) verify(each, secrets[0] as string);
  });

  test('sees the events in the story of the message, and of the request that sent it', async () => {
    await openTab(page, 'Messages');
    await page.getByRole('link', { name: /Is this on/ }).click();
    const story = dialog().getByRole('list', { name: 'Events' });
    await story.getByText('message.delivered').waitFor();
    await story
      .getByText(/Delivered to .*\/hooks/)
      .first()
      .waitFor();
    await dialog().getByRole('link', { name: /^req_/ }).click();
    await page.getByRole('heading', { name: '201 POST /sms/v1/messages' }).waitFor();
    await dialog().getByRole('list', { name: 'Events' }).getByText('message.delivered').waitFor();
    await closeDrawer();
  });

  test('replays one delivery, and a span', async () => {
    await openTab(page, 'Webhooks');
    await page.getByRole('link', { name: /My laptop/ }).click();
    const before = received.length;
    await deliveryOf('message.sent').getByRole('link').click();
    await page.getByRole('button', { name: 'Resend message.sent' }).click();
    await toast('Event queued to be sent again');
    await dialog().getByText('Attempt 2').waitFor();
    await closeDrawer();
    await deliveryOf('message.sent').getByText('2 attempts').waitFor();
    assert.equal(received[before]?.type, 'message.sent');
    assert.equal(
      received[before]?.headers['webhook-id'],
      received.find(({ type }) => type === 'message.sent')?.headers['webhook-id'],
    );

    await page.getByRole('button', { name: 'Replay a period' }).click();
    await dialog().getByRole('button', { name: 'Replay', exact: true }).click();
    await toast('Events queued for replay');
    await deliveryOf('message.sent').getByText('3 attempts').waitFor();
    await deliveryOf('message.delivered').getByText('2 attempts').waitFor();
  });

  test('pauses the webhook: events wait, and come when it is resumed', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Webhook paused', { exact: true }).first().waitFor();
    const before = received.length;
    await sendText('While you were out');
    await openTab(page, 'Webhooks');
    await page.getByRole('link', { name: /My laptop/ }).click();
    assert.equal(received.length, before, 'nothing came');
    await page.getByRole('button', { name: 'Resume' }).click();
    await toast('Webhook resumed');
    await deliveries().getByRole('listitem').filter({ hasText: 'message.delivered' }).nth(1).waitFor();
  });

  test('makes a new secret; during the overlap both sign', async () => {
    await page.getByRole('button', { name: 'New secret' }).click();
    await dialog().getByLabel('Older secrets').selectOption('3600');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    secrets.push(await takeSecret());
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(/2 sign, the older one until/).waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/204 in \d+ ms$/).waitFor();
    for (const secret of secrets) verify(received.at(-1) as Received, secret);
  });

  test('reads why a webhook was disabled, and enables it', async () => {
    answerWith = 410;
    await page.getByRole('button', { name: 'Replay a period' }).click();
    await dialog().getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('Your server answered 410 Gone.').waitFor();
    await alsoInLong(() => assertGood(page, 'A disabled webhook'));
    answerWith = 204;
    await page.getByRole('button', { name: 'Enable' }).click();
    await toast('Webhook enabled');
  });

  test('edits it, finds no secret on any later page, and deletes it', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Description').fill('My other laptop');
    await dialog().getByText('Only some').click();
    await dialog().getByLabel('message.failed').check();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'My other laptop' }).waitFor();
    for (const reload of [false, true]) {
      if (reload) await page.reload();
      await page.getByRole('heading', { name: 'My other laptop' }).waitFor();
      const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      const places = [await page.content(), stored, JSON.stringify(await portal.context.cookies())];
      for (const secret of secrets) assert.ok(!places.some((place) => place.includes(secret)), 'the secret is nowhere');
    }
    await openTab(page, 'Webhooks');
    await page.getByRole('link', { name: /My other laptop.*1 event type/ }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await page.getByText(/^npx --no-install heliograph listen --app app_\w+ --forward-to/).waitFor();
    await page.getByRole('button', { name: 'Copy the id of the application' }).click();
    assert.match(await page.evaluate('navigator.clipboard.readText()'), /^app_\w{26}$/);
    assert.deepEqual(portal.faults, []);
  });
});
