import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import type { Service } from '../support/service.ts';
import {
  createApplication,
  factOf,
  openPortal,
  openTab,
  type Portal,
  password,
  register,
  type Stage,
  setStage,
  signUp,
  waitForText,
} from './browser.ts';

let stage: Stage;
let service: Service;
let portal: Portal;
let page: Page;
before(async () => {
  stage = await setStage();
  ({ service } = stage);
  portal = await openPortal(stage.browser, service.url);
  page = portal.page;
});
after(() => stage.close());

/** What a developer gets who pastes all of it into a shell. */
async function paste(dialog: Locator, blocks: number[]): Promise<string> {
  const texts = await dialog.locator('pre').allTextContents();
  const { stdout } = await promisify(execFile)('sh', ['-c', blocks.map((block) => texts[block]).join('\n')]);
  return stdout;
}

const handset = () => page.getByRole('log');
const usageOf = (api: string) => page.getByRole('region', { name: api, exact: true });
const done = (dialog: Locator) => dialog.getByRole('button', { name: 'I have copied it' }).click();

describe('a developer who has read nothing', () => {
  let key = '';
  /** What this test has sent with the key, by answer. */
  const sent = { admitted: 0, refused: 0 };

  test('signs up, creates an application, registers it, and has a key with a curl that works', async () => {
    await signUp(page, 'ada@example.com');
    await page.getByText('Create your first application').waitFor();
    await createApplication(page, 'ACME');
    const dialog = await register(page, 'SMS Messaging');
    key = (await dialog.locator('pre').first().textContent()) ?? '';
    assert.match(key, /^hg_sandbox_\w+$/);
    await dialog.getByRole('button', { name: 'Copy the API key' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
    assert.match(await paste(dialog, [1]), /^HTTP\/1\.1 201 /);
    sent.admitted++;
    await done(dialog);
  });

  test('sends a text from the page and sees it arrive, and what went over the wire', async () => {
    await page.getByRole('link', { name: 'Try it now' }).click();
    await handset().getByText('Hello from Heliograph').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Is anybody there?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    sent.admitted++;
    await handset().getByText('Is anybody there?').waitFor();
    await handset().getByText('1 segment · GSM-7').last().waitFor();

    const response = page.getByRole('region', { name: 'Response' }).first();
    await response.getByText('HTTP 201 Created').waitFor();
    await response.getByText('ratelimit-remaining: 58').waitFor();
    const request = page.getByRole('region', { name: 'Request' }).first();
    assert.ok(!(await request.textContent())?.includes(key));
    await page.getByRole('button', { name: 'Reveal the secret' }).click();
    await request.getByText(`apikey: ${key}`).waitFor();

    await page.getByRole('link', { name: /^req_/ }).first().click();
    await page.getByRole('heading', { name: '201 POST /sms/v1/messages' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Delivered' }).waitFor();
  });

  test('runs a whole verification from the page', async () => {
    const dialog = await register(page, 'Verification');
    assert.match(await paste(dialog, [2, 3]), /^HTTP\/1\.1 200 /);
    await done(dialog);
    await openTab(page, 'Try it');
    await page.getByText('Verification', { exact: true }).click();
    await page.getByLabel('To', { exact: true }).fill('+447700900123');
    await page.getByLabel('Autofill domain').fill('example.com');
    await page.getByRole('button', { name: 'Send the code' }).click();
    await handset()
      .getByText(/^@example\.com #\d{6}$/)
      .waitFor();
    await handset()
      .getByRole('button', { name: /^Use code/ })
      .click();
    await page.getByRole('button', { name: 'Check the code' }).click();
    await page.getByText('Approved: the number is verified.').waitFor();
    // Other numbers are other handsets.
    await page.getByRole('button', { name: '+15005550100' }).click();
    await handset().getByText('Is anybody there?').waitFor();
  });

  test('finds the messages and verifications with their states', async () => {
    await openTab(page, 'Messages');
    await page.getByRole('link', { name: /delivered.*Is anybody there/ }).click();
    await page.getByRole('dialog').getByText('Created by request').waitFor();
    await page.keyboard.press('Escape');
    await openTab(page, 'Verifications');
    await page.getByLabel('Status').selectOption('approved');
    await page.getByRole('link', { name: /approved.*\+447700900123/ }).waitFor();
    await page
      .getByRole('link', { name: /pending/ })
      .first()
      .waitFor({ state: 'hidden' });
  });

  test('sees the key only once: a reload has forgotten it, and nothing has stored it', async () => {
    await page.reload();
    await openTab(page, 'Try it');
    await page.getByText('SMS Messaging', { exact: true }).click();
    assert.equal(await page.getByLabel('API key', { exact: true }).inputValue(), '');
    await openTab(page, 'Credentials');
    await page.getByText(`…${key.slice(-4)}`).waitFor();
    const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    const cookies = JSON.stringify(await portal.context.cookies());
    for (const place of [await page.content(), stored, cookies]) assert.ok(!place.includes(key));
  });

  test('reads usage that is right to the request', async () => {
    const body = JSON.stringify({ to: '+15005550100', from: 'ACME', message: 'Hello' });
    const headers = { apikey: key, 'Content-Type': 'application/json' };
    const calls = Array.from({ length: 70 }, () =>
      fetch(`${service.url}/sms/v1/messages`, { method: 'POST', headers, body }),
    );
    for (const { status } of await Promise.all(calls)) sent[status === 429 ? 'refused' : 'admitted']++;
    assert.ok(sent.refused > 0);
    await openTab(page, 'Usage');
    await waitForText(factOf(usageOf('SMS Messaging'), 'Admitted'), String(sent.admitted));
    await waitForText(factOf(usageOf('SMS Messaging'), 'Refused'), String(sent.refused));
    await waitForText(factOf(usageOf('SMS Messaging'), 'Messages'), String(sent.admitted));
    // The start by curl; start and check on the page.
    await waitForText(factOf(usageOf('Verification'), 'Admitted'), '3');
    await waitForText(factOf(usageOf('Verification'), 'Conversion'), '50%');
  });

  test('changes the plan with one click, and the line of the chart moves', async () => {
    const line = usageOf('SMS Messaging')
      .locator('svg')
      .getByText(/ a minute$/);
    await waitForText(line, '60 a minute');
    await openTab(page, 'Overview');
    await page.getByRole('button', { name: 'Change to Pro for SMS Messaging' }).click();
    await page.getByRole('status').getByText('SMS Messaging is now on the pro plan').waitFor();
    await openTab(page, 'Usage');
    await waitForText(line, '600 a minute');
  });

  test('revokes the key, and it fails where it worked before', async () => {
    await openTab(page, 'Try it');
    await page.getByLabel('API key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('201: request succeeded', { exact: true }).waitFor();
    await openTab(page, 'Credentials');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('All API keys are revoked.').waitFor();
    await openTab(page, 'Try it');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('HTTP 401 Unauthorized').waitFor();
    await page.getByText('Create a new one under Credentials.').waitFor();
  });

  test('signs out, and in again where they were', async () => {
    const here = page.url();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(here);
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not the one');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('tab', { name: 'Try it', selected: true }).waitFor();
    // Whoever signs in next at this screen finds no secret.
    assert.equal(await page.getByLabel('API key', { exact: true }).inputValue(), '');
    assert.deepEqual(portal.faults, []);
  });
});
