// run: with pages
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, Page, Response } from 'playwright-core';
import { words as overview } from '../../portal/src/words/overview.ts';
import { alsoInLong, inShort } from '../support/effort.ts';
import type { Service } from '../support/service.ts';
import {
  assertGood,
  assertSteady,
  createApplication,
  openPortal,
  openTab,
  openWindow,
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

/** Everything that a browser with nothing in its cache loads until the page is still, compressed. */
async function firstLoad(path: string, cookies: Awaited<ReturnType<Portal['context']['cookies']>>, shown = 'h1') {
  const { context, page: fresh } = await openWindow(browser, service.url);
  await context.addCookies(cookies);
  const loaded: Promise<{ url: string; body: Buffer }>[] = [];
  const note = (response: Response) => {
    loaded.push(response.body().then((body) => ({ url: response.url(), body })));
  };
  fresh.on('response', note);
  await fresh.goto(service.url + path, { waitUntil: 'networkidle' });
  await fresh.locator(shown).first().waitFor();
  await assertSteady(fresh, path);
  // What a page loads again every few seconds is no part of the first load.
  fresh.off('response', note);
  const files = await Promise.all(loaded);
  await context.close();
  // What a font's own compression left, gzip makes no smaller.
  const bytes = files.reduce((sum, { body }) => sum + Math.min(body.length, gzipSync(body).length), 0);
  return { files, bytes };
}

describe('every page: axe finds nothing serious in light or dark, and it fits a phone', () => {
  test('pages for visitors are accessible and fit a phone', async () => {
    assert.deepEqual(portal.errors, [], 'a visitor’s console has no error');
    await alsoInLong(() => assertGood(page, 'Landing'));
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Enter an email address').waitFor();
    await page.locator('input[type=email]:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.locator('button:focus[aria-label="Show password"]').waitFor();
    await assertGood(page, 'Landing with errors');
    await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await assertGood(page, 'Sign in');
    await page.getByRole('link', { name: 'Heliograph', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign up' }).waitFor();
  });

  test('pages for a developer who begins are accessible and fit a phone', async () => {
    await signUp(page, 'grace@example.com');
    await page.getByText('Create your first application').waitFor();
    await assertGood(page, 'No application');
    await page.getByRole('button', { name: 'Create an application' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Enter a name (1–64 characters).').waitFor();
    const colorOf = (of: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('[role=dialog] input')${of}).color`);
    assert.notEqual(await colorOf(", '::placeholder'"), await colorOf(''), 'the placeholder is not red');
    await page.keyboard.press('Escape');
    await createApplication(page, 'ACME');
    await page.getByText('Next: choose an API and a plan').waitFor();
    await page.getByText(overview.plans.lead).waitFor();
    const shade = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('[data-sections]')).backgroundImage",
    );
    assert.match(shade, /gradient/, 'a shade shows that there are more tabs');
    await assertGood(page, 'Overview');
    // Tabs that other tests only see empty come first.
    for (const [place, tab] of [
      'Verifications',
      'Webhooks',
      'Requests',
      'Credentials',
      'Senders',
      'Try it',
      'Messages',
      'Inbound',
      'Events',
      'Usage',
    ].entries()) {
      await openTab(page, tab);
      await page
        .locator('[data-section]')
        .getByText(/^No(t|thing)? /)
        .first()
        .waitFor();
      await assertSteady(page, `${tab}, empty`);
      if (place < inShort(3, 10)) await assertGood(page, `${tab}, empty`);
    }
  });

  test('pages for a developer at work are accessible and fit a phone', async () => {
    const dialog = await register(page, 'SMS Messaging');
    await assertGood(page, 'A new key');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await openTab(page, 'Credentials');
    await page.getByText('Last used').waitFor();
    await alsoInLong(() => assertGood(page, 'Credentials'));
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('dialog').getByText('Revoke this key?').waitFor();
    await assertGood(page, 'Revoke a key');
    await page.keyboard.press('Escape');
    const title = page.getByRole('heading', { level: 1 });
    const place = await title.boundingBox();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Server 2');
    await assertGood(page, 'Create a key');
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'I have copied it' }).waitFor();
    assert.deepEqual(await title.boundingBox(), place, 'one dialog after another leaves the page in its place');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('button', { name: 'Revoke the key Server 2' }).waitFor();
    await page.getByRole('button', { name: 'Revoke the key that ends in' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke the key that ends in' }).waitFor({ state: 'hidden' });
    // A reload would forget the key, which is needed below.
    await openTab(page, 'Senders');
    await stage.database.query("update api_key set suspended_at = now() where name = 'Server 2'");
    await openTab(page, 'Credentials');
    await page.getByText('Suspended since the service was restored from a backup').waitFor();
    await assertGood(page, 'A suspended key');
    await page.getByRole('button', { name: 'Enable the key Server 2' }).click();
    await page.getByText('Suspended since').waitFor({ state: 'hidden' });
    await openTab(page, 'Try it');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    // Texts to many numbers make many handsets, which must not push the page apart.
    for (const end of ['01', '02', '03', '04', '05', '00']) {
      await page.getByLabel('To', { exact: true }).fill(`+155555501${end}`);
      await send.click();
      await page
        .getByRole('log', { name: `Texts to +155555501${end}` })
        .getByText('Hello from Heliograph')
        .waitFor();
    }
    await page.getByLabel('Reply to', { exact: false }).fill('Who is this?');
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('log').getByText('Who is this?').waitFor();
    await page.getByLabel('Reply to', { exact: false }).fill('STOP');
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('log').getByText('STOP', { exact: true }).waitFor();
    await assertGood(page, 'Try it');
    await openTab(page, 'Inbound');
    await page.getByRole('region', { name: 'Inbound texts' }).getByText('Who is this?').first().waitFor();
    await page.getByLabel('Number', { exact: true }).fill('07700 900');
    await page.getByRole('button', { name: 'Add opt-out' }).click();
    await page.getByText(/^Enter a plus/).waitFor();
    await page.getByLabel('Number', { exact: true }).fill('+44 7700 900199');
    await page.getByRole('button', { name: 'Add opt-out' }).click();
    const optOuts = page.getByRole('region', { name: 'Opt-outs' });
    await optOuts.getByRole('row', { name: /^\+447700900199 Added by you/ }).waitFor();
    await optOuts.getByRole('row', { name: /Texted STOP/ }).waitFor();
    await page.getByRole('region', { name: 'Inbound texts' }).getByText('STOP: opted out').first().waitFor();
    await assertGood(page, 'Inbound');
    await page.getByRole('button', { name: 'Remove +447700900199' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await optOuts.getByRole('row', { name: /^\+447700900199/ }).waitFor({ state: 'hidden' });
    await openTab(page, 'Senders');
    await page.getByRole('button', { name: 'Request a sender' }).click();
    await page.getByRole('dialog').getByLabel('Sender').fill('ACME');
    await assertGood(page, 'Request a sender');
    await page.getByRole('button', { name: 'Request sender' }).click();
    await page.getByRole('region', { name: 'Senders' }).getByText('approved').first().waitFor();
    await assertGood(page, 'Senders');
    await openTab(page, 'Overview');
    await page
      .getByRole('button', { name: overview.testNumbers.tryNumber('+') })
      .first()
      .click();
    assert.match(await page.getByLabel('To', { exact: true }).inputValue(), /^\+1500555/, 'a test number is filled in');
    await openTab(page, 'Messages');
    for (const column of ['Status', 'To', 'Message', 'Created'])
      await page.getByText(column, { exact: true }).first().waitFor();
    await assertGood(page, 'Messages');
    await page
      .getByRole('link', { name: /Hello from Heliograph/ })
      .first()
      .click();
    await page.getByText('Created by request').waitFor();
    const underline = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('a:has(> code)')).textUnderlineOffset",
    );
    assert.ok(Number.parseFloat(underline) > 3, `the underline of an id is below its underscores: ${underline}`);
    await assertGood(page, 'A message');
    await page.getByRole('link', { name: /^req_/ }).click();
    await page.getByRole('heading', { name: '201 POST /sms/v1/messages' }).waitFor();
    await assertGood(page, 'A request');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await openTab(page, 'Usage');
    await page.getByText('Limit: 60 per minute', { exact: true }).waitFor();
    await page.locator('svg.recharts-surface').waitFor();
    await assertGood(page, 'Usage');
    await page.goto(`${service.url}/#/nowhere`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await assertGood(page, 'Nowhere');
    assert.deepEqual(portal.faults, []);
  });

  test('a batch is one row with its totals, and a list has pages of 50 and a total', async () => {
    await page.goto(`${service.url}/#/applications`);
    const href = (await page.getByRole('link', { name: /ACME/ }).getAttribute('href')) ?? '';
    const post = (path: string, options: object) => portal.context.request.post(service.url + path, options);
    const path = `/portal/v1${href.slice(2)}/registrations`;
    const { credential } = await (await post(path, { data: { api: 'messaging', plan: 'free' } })).json();
    const { client_id, client_secret, token_url, scope } = credential;
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope };
    const { access_token } = await (await portal.context.request.post(token_url, { form })).json();
    const messages = Array.from({ length: 60 }, (_, n) => ({
      to: `+44770090${1000 + n}`,
      from: 'ACME',
      message: 'Sale',
    }));
    const headers = { Authorization: `Bearer ${access_token}` };
    assert.equal((await post('/messaging/v1/messages/batch', { headers, data: { messages } })).status(), 200);
    await page.goto(`${service.url}${href}/messages`);
    const batch = page.locator('summary', { hasText: '60 messages' });
    await batch.getByText('50 on this page').waitFor();
    await page.getByText(/^6\d messages · page 1$/).waitFor();
    await batch.click();
    await page.getByRole('link', { name: /\+447700901059 ACME: Sale/ }).waitFor();
    await assertGood(page, 'Messages with a batch');
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText(/page 2$/).waitFor();
    await page.locator('summary', { hasText: '10 on this page' }).waitFor();
    await page
      .getByRole('link', { name: /Hello from Heliograph/ })
      .first()
      .click();
    await page.getByRole('dialog').getByText('Created by request').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText(/page 2$/).waitFor();
    await page.getByRole('button', { name: 'Newer' }).click();
    await page.getByText(/page 1$/).waitFor();
    await page.getByText('Messaging', { exact: true }).click();
    await page.getByText(/^60 messages · page 1$/).waitFor();
  });

  test('a long name fits a phone, and an application is deleted only by its name', async () => {
    const name = 'Averyveryverylongapplicationnamewithoutanyspaceinitto';
    await page.goto(`${service.url}/#/applications`);
    await createApplication(page, name);
    await assertGood(page, 'A long name');
    await page.getByRole('button', { name: 'Delete application' }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.getByRole('button', { name: 'Delete application' });
    await dialog.getByText('Its registrations, senders and webhooks are deleted', { exact: false }).waitFor();
    const covered = await page.evaluate<number>(
      "innerWidth - document.querySelector('.mantine-Modal-overlay').getBoundingClientRect().right",
    );
    assert.equal(covered, 0, 'the overlay covers the whole window');
    assert.ok(await remove.isDisabled());
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
    await remove.click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  });

  test('no page jumps while it loads', async () => {
    await page.goto(`${service.url}/#/applications`);
    const href = await page.getByRole('link', { name: /ACME/ }).getAttribute('href');
    // The first loads below are checked too.
    const tabs = inShort(['overview', 'try'], ['overview', 'credentials', 'try', 'usage']).map(
      (tab) => `${href}/${tab}`,
    );
    for (const [count, address] of [...inShort([], ['/#/account']), ...tabs].entries()) {
      await page.goto(`${service.url}/?${count}${address.slice(1)}`);
      await page.locator('h1').waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'hidden' });
      await assertSteady(page, address);
    }
  });

  test('the focus follows to the next page of a keyboard user', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Applications' }).press('Enter');
    await page.locator('h1:focus', { hasText: 'Applications' }).waitFor();
    await page.getByRole('link', { name: /ACME/ }).press('Enter');
    await page.locator('h1:focus', { hasText: 'ACME' }).waitFor();
    await page
      .getByRole('navigation', { name: 'Application sections' })
      .getByRole('link', { name: 'Usage' })
      .press('Enter');
    await page.locator('[data-sections] [aria-current=page]:focus', { hasText: 'Usage' }).waitFor();
  });

  test('a page that finds the service busy says so, and loads by itself', async () => {
    const busy = { status: 503, headers: { 'Retry-After': '1' }, json: { message: 'The service is busy.' } };
    await page.route('**/portal/v1/applications?*', (route) => route.fulfill(busy), { times: 1 });
    await page.getByRole('navigation').getByRole('link', { name: 'Applications' }).click();
    await page.getByText('The service is busy. Try again in 1 s.').waitFor();
    await page.getByRole('link', { name: /ACME/ }).click();
    await page.locator('h1', { hasText: 'ACME' }).waitFor();
  });
});

describe('the first load', () => {
  const most = 200 * 1000;
  const isChart = ({ url, body }: { url: string; body: Buffer }) => url.endsWith('.js') && body.includes('recharts');

  test('is under 200 kB, all of it counted, and has no charts in it', async () => {
    const cookies = await portal.context.cookies();
    for (const [path, known] of [
      ['/', []],
      // It has the code of the page above.
      ...inShort([], [['/#/sign-in', []] as const]),
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
    assert.ok(files.filter(isChart).length > 0);
  });
});
