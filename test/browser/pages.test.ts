import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, Page, Response } from 'playwright-core';
import type { Service } from '../support/service.ts';
import {
  assertAccessible,
  assertFitsPhone,
  createApplication,
  openPortal,
  openTab,
  type Portal,
  register,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';

let stage: Stage;
let service: Service;
let browser: Browser;
let portal: Portal;
let page: Page;
before(async () => {
  stage = await setStage();
  ({ service, browser } = stage);
  portal = await openPortal(browser, service.url);
  page = portal.page;
});
after(() => stage.close());

async function assertGood(name: string): Promise<void> {
  await assertAccessible(page, name);
  await assertFitsPhone(page, name);
}

/** Everything that a browser with nothing in its cache loads until the page is still, compressed. */
async function firstLoad(path: string, cookies: Awaited<ReturnType<Portal['context']['cookies']>>, shown = 'h1') {
  const context = await browser.newContext();
  await context.addCookies(cookies);
  const fresh = await context.newPage();
  const loaded: Promise<{ url: string; body: Buffer }>[] = [];
  const note = (response: Response) => {
    loaded.push(response.body().then((body) => ({ url: response.url(), body })));
  };
  fresh.on('response', note);
  await fresh.goto(service.url + path, { waitUntil: 'networkidle' });
  await fresh.locator(shown).first().waitFor();
  // What a page loads again every few seconds is no part of the first load.
  fresh.off('response', note);
  const files = await Promise.all(loaded);
  await context.close();
  // What a font's own compression left, gzip makes no smaller.
  const bytes = files.reduce((sum, { body }) => sum + Math.min(body.length, gzipSync(body).length), 0);
  return { files, bytes };
}

describe('every page is for everybody: axe finds nothing serious in light or dark, and it fits a phone', () => {
  test('for visitors', async () => {
    await assertGood('Landing');
    await page.getByRole('button', { name: 'Create my account' }).click();
    await page.getByText('Email must be an email address').waitFor();
    await assertGood('Landing with errors');
    await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await assertGood('Sign in');
    await page.getByRole('link', { name: 'Heliograph', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign up' }).waitFor();
  });

  test('for a developer who begins', async () => {
    await signUp(page, 'ada@example.com');
    await page.getByText('Create your first application').waitFor();
    await assertGood('No application');
    await createApplication(page, 'ACME');
    await page.getByText('Next: choose an API and a plan').waitFor();
    await assertGood('Overview');
    for (const tab of [
      'Credentials',
      'Senders',
      'Try it',
      'Messages',
      'Inbound',
      'Verifications',
      'Events',
      'Webhooks',
      'Usage',
      'Requests',
    ]) {
      await openTab(page, tab);
      await page
        .getByRole('tabpanel', { name: tab })
        .getByText(/^No(t|thing)? /)
        .first()
        .waitFor();
      await assertGood(`${tab}, empty`);
    }
  });

  test('for a developer at work', async () => {
    const dialog = await register(page, 'SMS Messaging');
    await assertGood('A new key');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await openTab(page, 'Credentials');
    await page.getByText('Last used').waitFor();
    await assertGood('Credentials');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('dialog').getByText('Revoke this key?').waitFor();
    await assertGood('Revoke a key');
    await page.keyboard.press('Escape');
    await openTab(page, 'Try it');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('log').getByText('Hello from Heliograph').waitFor();
    await page.getByLabel('Reply to', { exact: false }).fill('Who is this?');
    await page.getByRole('button', { name: 'Send the reply' }).click();
    await page.getByRole('log').getByText('Who is this?').waitFor();
    await assertGood('Try it');
    await openTab(page, 'Inbound');
    await page.getByRole('region', { name: 'Inbound texts' }).getByText('Who is this?').first().waitFor();
    await assertGood('Inbound');
    await openTab(page, 'Senders');
    await page.getByRole('button', { name: 'Ask for a sender' }).click();
    await page.getByRole('dialog').getByLabel('Sender').fill('ACME');
    await assertGood('Ask for a sender');
    await page.getByRole('button', { name: 'Ask for it' }).click();
    await page.getByRole('region', { name: 'Senders' }).getByText('approved').first().waitFor();
    await assertGood('Senders');
    await openTab(page, 'Messages');
    await page.getByRole('link', { name: /Hello from Heliograph/ }).click();
    await page.getByText('Created by request').waitFor();
    await assertGood('A message');
    await page.getByRole('link', { name: /^req_/ }).click();
    await page.getByRole('heading', { name: '201 POST /sms/v1/messages' }).waitFor();
    await assertGood('A request');
    await openTab(page, 'Usage');
    await page.locator('svg').getByText('60 a minute').waitFor();
    await assertGood('Usage');
    await page.goto(`${service.url}/#/nowhere`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await assertGood('Nowhere');
    assert.deepEqual(portal.faults, []);
  });

  test('by keyboard: the focus follows to the page one goes to', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Applications' }).press('Enter');
    await page.locator('h1:focus', { hasText: 'Applications' }).waitFor();
    await page.getByRole('link', { name: /ACME/ }).press('Enter');
    await page.locator('h1:focus', { hasText: 'ACME' }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).press('ArrowRight');
    await page.getByRole('tab', { name: 'Credentials', selected: true }).waitFor();
  });
});

describe('the first load', () => {
  const most = 200 * 1000;
  const isChart = ({ url, body }: { url: string; body: Buffer }) => url.endsWith('.js') && body.includes('recharts');

  test('is under 200 kB, all of it counted, and has no charts in it', async () => {
    const cookies = await portal.context.cookies();
    for (const [path, known] of [
      ['/', []],
      ['/#/sign-in', []],
      ['/#/applications', cookies],
    ] as const) {
      const { files, bytes } = await firstLoad(path, [...known]);
      assert.ok(files.length > 4);
      assert.ok(bytes < most, `${path} loads ${bytes} bytes`);
      assert.deepEqual(
        files.filter(isChart).map(({ url }) => url),
        [],
      );
    }
  });

  test('the charts come where they are shown', async () => {
    const id = /app_\w+/.exec(page.url())?.[0];
    const { files } = await firstLoad(
      `/#/applications/${id}/usage`,
      await portal.context.cookies(),
      '.recharts-surface',
    );
    assert.equal(files.filter(isChart).length, 1);
  });
});
