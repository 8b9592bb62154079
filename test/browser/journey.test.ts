// run: with pages
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { alsoInLong } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import type { Service } from '../support/service.ts';
import {
  assertFitsPhone,
  assertSteady,
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
const result = (text: RegExp) => page.getByText(text).waitFor();
const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
const usageOf = (api: string) => page.getByRole('region', { name: api, exact: true });
const done = (dialog: Locator) => dialog.getByRole('button', { name: 'I have copied it' }).click();

async function closeDrawer(): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

async function assertInSight(part: Locator): Promise<void> {
  const box = (await part.boundingBox()) ?? assert.fail('it is on the page');
  assert.ok(box.y >= 0 && box.y + box.height <= 900, `it is in the window, not at ${box.y}`);
}

/** Keeps what the button that sends says, and whether it can be pressed, after each change of the page. */
const watchSend = `
  window.sendSaid = [];
  new MutationObserver(() => {
    const button = [...document.querySelectorAll('button[type=submit]')].find(({ innerText }) => innerText.startsWith('Send'));
    if (button) window.sendSaid.push({ text: button.innerText.trim(), disabled: button.disabled });
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
`;

describe('a developer who has read nothing', () => {
  let key = '';
  /** What this test has sent with the key, by answer. */
  const sent = { admitted: 0, refused: 0 };

  /** What was sent over a minute ago counts no more, so a few may pass first. */
  async function sendUntilRefused(): Promise<void> {
    const exchanges = page.getByRole('group', { name: 'Send a text' });
    for (let count = 1; ; count++) {
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await exchanges.nth(count - 1).waitFor();
      const status =
        (await exchanges
          .first()
          .getByText(/^HTTP \d+/)
          .textContent()) ?? '';
      assert.match(status, /^HTTP (201|429) /);
      const isRefused = status.startsWith('HTTP 429');
      sent[isRefused ? 'refused' : 'admitted']++;
      if (isRefused) return;
    }
  }

  test('signs up, creates an application, registers it, and has a key with a curl that works', async () => {
    await signUp(page, 'ada@example.com');
    await page.getByText('Create your first application').waitFor();
    await createApplication(page, 'ACME');
    const dialog = await register(page, 'SMS Messaging');
    key = (await dialog.locator('pre').first().textContent()) ?? '';
    assert.match(key, /^hg_sandbox_\w+$/);
    await dialog.getByRole('button', { name: 'Copy the API key' }).click();
    assert.equal(await clipboard(), key);
    await dialog.locator('pre', { hasText: "from '@heliograph/client'" }).waitFor();
    await dialog.getByText('curl', { exact: true }).click();
    assert.match(await paste(dialog, [1]), /^HTTP\/1\.1 201 /);
    sent.admitted++;
    await done(dialog);
  });

  test('sends a text from the page and sees it arrive, and what went over the wire', async () => {
    await page.getByRole('link', { name: 'Try it now' }).click();
    await handset().getByText('Hello from Heliograph').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Is anybody there?');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await send.click();
    sent.admitted++;
    await handset().getByText('Is anybody there?').waitFor();
    await result(/^201 Created · queued · \d+ ms$/);
    await page.locator('button:focus', { hasText: 'Send' }).waitFor();
    const exchange = page.getByRole('group', { name: 'Send a text' }).first();
    await exchange.getByText('201: request succeeded').waitFor();
    await exchange.getByRole('button', { name: 'Copy as curl' }).click();
    assert.match(await clipboard(), new RegExp(`^curl -i -X POST .*-H 'apikey: ${key}'`, 's'));
    await exchange.getByRole('button', { name: 'Copy response' }).click();
    assert.equal(JSON.parse(await clipboard()).status, 'queued');
    await handset().getByText('1 segment · GSM-7').last().waitFor();

    const response = page.getByRole('region', { name: 'Response', exact: true }).first();
    await response.getByText('HTTP 201 Created').waitFor();
    await response.getByText('ratelimit-remaining: 58').waitFor();
    const request = page.getByRole('region', { name: 'Request' }).first();
    assert.ok(!(await request.textContent())?.includes(key));
    await page.getByRole('button', { name: 'Reveal secret' }).click();
    await request.getByText(`apikey: ${key}`).waitFor();
    await alsoInLong(() => assertFitsPhone(page, 'Try it after a send'));

    await page.getByRole('link', { name: /^req_/ }).first().click();
    // The drawer is in sight, wherever the page stood, and says that the page sent the request.
    const story = page.getByRole('dialog');
    await assertInSight(story.getByRole('heading', { name: '201 POST /sms/v1/messages Try it' }));
    await story.getByRole('listitem').filter({ hasText: 'Delivered' }).first().waitFor();
    await story.getByRole('button', { name: 'Copy the id of this request' }).click();
    assert.match(await clipboard(), /^req_\w{26}$/);
    await closeDrawer();
  });

  test('runs a whole verification from the page', async () => {
    const dialog = await register(page, 'Verification');
    await dialog.getByText('curl', { exact: true }).click();
    assert.match(await paste(dialog, [2, 3, 4]), /"status":"pending"[\s\S]*HTTP\/1\.1 200 [\s\S]*"valid":true/);
    await done(dialog);
    await openTab(page, 'Try it');
    await page.getByText('Verification', { exact: true }).click();
    await page.getByLabel('To', { exact: true }).fill('+447700900123');
    await page.getByLabel('Autofill domain').fill('example.com');
    await page.getByRole('button', { name: 'Send code' }).click();
    await handset()
      .getByText(/^@example\.com #\d{6}$/)
      .waitFor();
    // As the form that asks for the application's name says.
    await handset()
      .getByText(/^\d{6} is your ACME code\./)
      .waitFor();
    const check = page.getByRole('button', { name: 'Check code' });
    const use = handset().getByRole('button', { name: /^Use code/ });
    const isZeros = (await use.textContent())?.includes('000000');
    await page.getByLabel('Code', { exact: true }).fill(isZeros ? '111111' : '000000');
    const before = await page.evaluate<number>('scrollY');
    await check.click();
    await page.getByText('Wrong code, 4 attempts left').first().waitFor();
    assert.equal(await page.evaluate<number>('scrollY'), before, 'the page does not jump');
    const line = page.getByText(/^200 OK · pending · \d+ ms$/).last();
    assert.equal(await line.getAttribute('data-tone'), 'wait', 'a wrong code is not green');
    const wrong = page.getByRole('group', { name: 'Check code' }).first();
    const trace = await wrong.getByRole('link', { name: /^req_/ }).getAttribute('href');
    await use.click();
    await check.click();
    await page.getByText('Number verified').waitFor();
    // Other numbers are other handsets.
    await page.getByRole('button', { name: '+15005550100' }).click();
    await handset().getByText('Is anybody there?').waitFor();
    // The trace of a wrong code shows its outcome, though the verification is approved now.
    await page.goto(service.url + trace);
    await page.getByRole('dialog').getByText('Wrong code, 4 attempts left', { exact: true }).waitFor();
    await closeDrawer();
  });

  test('finds the messages and verifications with their states', async () => {
    await openTab(page, 'Messages');
    await page.getByLabel('To', { exact: true }).fill('555 0100');
    await page.getByRole('button', { name: 'Search' }).click();
    const row = page.getByRole('link', { name: /delivered.*Is anybody there/ });
    await row.click();
    await page.getByRole('dialog').getByText('Created by request').waitFor();
    assert.match(await page.title(), /^msg_\w+ · Messages · ACME · /);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator('a:focus', { hasText: 'Is anybody there' }).waitFor();
    // The browser's Back leaves the list and does not open the record again.
    await page.goBack();
    await page.locator('[data-sections] [aria-current=page]', { hasText: 'Requests' }).waitFor();
    await openTab(page, 'Verifications');
    await page.getByLabel('Status').selectOption('approved');
    await page.getByRole('link', { name: /approved.*\+447700900123/ }).waitFor();
    await page
      .getByRole('link', { name: /pending/ })
      .first()
      .waitFor({ state: 'hidden' });
    // The file has what the list has.
    const href = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href');
    const file = await (await portal.context.request.get(`${service.url}${href}`)).text();
    assert.match(
      file,
      /^id,created_at,[^\n]*\r\n(?:ver_\w+,[^,]+,approved,,\+(?:447700900123|15005550100),[^\n]*\r\n){2}$/,
    );
  });

  test('sees the key only once: a reload has forgotten it, and nothing has stored it', async () => {
    assert.match(page.url(), /\/verifications\?status=approved$/);
    await page.reload();
    await page.getByRole('link', { name: /approved.*\+447700900123/ }).waitFor();
    assert.equal(await page.getByLabel('Status').inputValue(), 'approved');
    await openTab(page, 'Try it');
    await page.getByText('SMS Messaging', { exact: true }).click();
    // The page sends by the session: it asks for no key, and sends again after the reload.
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await result(/^201 Created · queued · \d+ ms$/);
    sent.admitted++;
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
    for (const { status } of await Promise.all(calls)) {
      assert.ok(status === 201 || status === 429, `${status}`);
      sent[status === 429 ? 'refused' : 'admitted']++;
    }
    assert.ok(sent.refused > 0, 'the limit was reached');
    await openTab(page, 'Try it');
    await page.evaluate(watchSend);
    await sendUntilRefused();
    // However late the test looks: what the button said meanwhile.
    const said = await eventually('the count to go on', async () => {
      const seen = await page.evaluate<{ text: string; disabled: boolean }[]>('window.sendSaid');
      const first = seen.findIndex(({ text }) => /^Send in \d+ s$/.test(text));
      return first !== -1 && seen.slice(first).some(({ text }) => text !== seen[first]?.text) && seen;
    });
    const waits = said.filter(({ text }) => text.startsWith('Send in'));
    assert.ok(
      waits.every(({ disabled }) => disabled),
      'Send waits as long as the response says',
    );
    assert.match(
      (await page.getByRole('link', { name: 'compare plans' }).getAttribute('href')) ?? '',
      /applications\/app_\w+$/,
    );
    await assertSteady(page, 'Try it at the limit');
    await openTab(page, 'Usage');
    await waitForText(factOf(usageOf('SMS Messaging'), 'Allowed'), String(sent.admitted));
    await waitForText(factOf(usageOf('SMS Messaging'), 'Rate-limited'), String(sent.refused));
    await waitForText(factOf(usageOf('SMS Messaging'), 'Messages'), String(sent.admitted));
    // Start and check by curl; start and two checks on the page.
    await waitForText(factOf(usageOf('Verification'), 'Allowed'), '5');
    await waitForText(factOf(usageOf('Verification'), 'Conversion'), '100%');
  });

  test('sees on the overview how the day goes, and what failed', async () => {
    await openTab(page, 'Overview');
    await page.getByRole('region', { name: 'Today' }).getByText(`${sent.refused} rate-limited`).waitFor();
    await page.getByText('2 of 2 verifications approved').waitFor();
    await page
      .getByRole('region', { name: 'Latest failures' })
      .getByRole('link', { name: /^429 POST \/sms\/v1\/messages/ })
      .first()
      .waitFor();
    await openTab(page, 'Usage');
  });

  test('changes the plan, and the limit of the chart changes', async () => {
    const sms = usageOf('SMS Messaging');
    await sms.getByText('Limit: 60 per minute', { exact: true }).waitFor();
    // Bars are scaled to the traffic, and every number of the axis is round.
    const ticks = sms.locator('.recharts-yAxis-tick-labels text, .recharts-yAxis .recharts-cartesian-axis-tick-value');
    const numbers = (await ticks.allTextContents()).map(Number);
    assert.ok(numbers.length > 1 && numbers.every((tick) => Number.isInteger(tick) && tick <= 100), `${numbers}`);
    await sms.getByLabel('Show limit').check();
    // A level line has no height, so it never counts as visible.
    await sms.locator('.recharts-reference-line').first().waitFor({ state: 'attached' });
    await openTab(page, 'Overview');
    await page.getByRole('button', { name: 'Free · Change plan for SMS Messaging' }).click();
    await page.getByRole('button', { name: 'Change to Pro for SMS Messaging' }).click();
    await page.getByRole('status').getByText('SMS Messaging is now on the pro plan').waitFor();
    await openTab(page, 'Usage');
    await sms.getByText('Limit: 600 per minute (earlier: 60 per minute)', { exact: true }).waitFor();
    await page.getByText('Last month', { exact: true }).click();
    await sms.getByText('Limit: 864,000 per day', { exact: false }).waitFor();
    await sms.getByLabel('Show limit').check();
    const longest = ticks.filter({ hasText: '1,000,000' });
    await assertFitsPhone(page, 'Usage of a month');
    const [label, chart] = [await longest.boundingBox(), await sms.locator('svg.recharts-surface').boundingBox()];
    assert.ok(label !== null && chart !== null && label.x >= chart.x, 'the axis has room for its numbers');
  });

  test('revokes the key, and it fails where it worked before', async () => {
    const sendByKey = async () => {
      const body = JSON.stringify({ to: '+15005550100', from: 'ACME', message: 'By key' });
      const headers = { apikey: key, 'Content-Type': 'application/json' };
      return (await fetch(`${service.url}/sms/v1/messages`, { method: 'POST', headers, body })).status;
    };
    assert.equal(await sendByKey(), 201);
    await openTab(page, 'Credentials');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('All API keys are revoked.').waitFor();
    // A change of plan makes no new key.
    await openTab(page, 'Overview');
    await page.getByRole('button', { name: 'Pro · Change plan for SMS Messaging' }).click();
    await page.getByRole('button', { name: 'Change to Free for SMS Messaging' }).click();
    await page.getByRole('status').getByText('SMS Messaging is now on the free plan').waitFor();
    await openTab(page, 'Credentials');
    await page.getByText('All API keys are revoked.').waitFor();
    assert.equal(await sendByKey(), 401);
    await openTab(page, 'Try it');
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
    await page.locator('[data-sections] [aria-current=page]', { hasText: 'Try it' }).waitFor();
    assert.deepEqual(portal.faults, []);
  });
});
