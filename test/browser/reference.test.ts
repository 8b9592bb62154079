// run: with pages
// The reference at /docs, as a developer reads it: found by keyboard, copied, tried.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inShort } from '../support/effort.ts';
import {
  assertAccessible,
  assertFitsWindows,
  assertGood,
  assertSteady,
  desk,
  follow,
  forgetShifts,
  openPortal,
  openWindow,
  type Portal,
  type Stage,
  setStage,
} from './browser.ts';

let stage: Stage;
let portal: Portal;
let page: Page;
let url: string;
/** Every host that the pages asked for something. */
const hosts = new Set<string>();
before(async () => {
  stage = await setStage();
  url = stage.service.url;
  portal = await openPortal(stage.browser, url);
  page = portal.page;
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
});
after(() => stage.close());

const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
const heading = (name: string) => page.getByRole('heading', { name, level: 1 });

/** Every operation of the APIs and its summary, in the order of the pages. */
async function operations(): Promise<{ operationId: string; summary: string }[]> {
  const { paths } = (await (await fetch(`${url}/openapi/apis.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>;
  };
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

async function summaryOf(id: string): Promise<string> {
  return (await operations()).find(({ operationId }) => operationId === id)?.summary ?? assert.fail(id);
}

describe('a reader without a session', () => {
  test('loads it in under 280 kB, from this service alone, and nothing jumps', async () => {
    const context = await stage.browser.newContext({ viewport: desk });
    const fresh = await context.newPage();
    const session = await context.newCDPSession(fresh);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    fresh.on('request', (request) => hosts.add(new URL(request.url()).host));
    await fresh.addInitScript(
      `window.shift = 0;
       new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shift += each.value; })
         .observe({ type: 'layout-shift', buffered: true });`,
    );
    await fresh.goto(`${url}/docs/reference/sendSms`, { waitUntil: 'networkidle' });
    await fresh.getByRole('heading', { name: 'Send a text', level: 1 }).waitFor();
    await fresh.waitForLoadState('networkidle');
    const shift = await fresh.evaluate<number>('window.shift');
    await context.close();
    assert.ok(bytes > 50_000 && bytes < 280_000, `the first load has ${bytes} bytes`);
    assert.ok(shift < 0.1, `the layout shifted by ${shift}`);
  });

  test('finds a call by keyboard, copies a sample, and the language is remembered', async () => {
    await page.goto(`${url}/docs`);
    await heading('Build with Heliograph').waitFor();
    await assertGood(page, 'Start');
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('validity');
    await page
      .getByRole('option', { name: /validity_seconds/ })
      .first()
      .waitFor();
    await assertGood(page, 'Search');
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('send text');
    await page.getByRole('option', { name: /Send a text/, selected: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await heading('Send a text').waitFor();
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
    assert.match(page.url(), /\/docs\/reference\/sendSms$/);

    await page.getByRole('tab', { name: 'TypeScript', selected: true }).press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Python', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Copy the sample in Python' }).press('Enter');
    assert.match(
      await clipboard(),
      /^from heliograph import Heliograph\n[\s\S]*api_key="YOUR_API_KEY"[\s\S]*"to": "\+447700900123"/,
    );
    await page.getByRole('link', { name: /Next/ }).press('Enter');
    await heading('List messages, newest first').waitFor();
    await page.getByRole('tab', { name: 'Python', selected: true }).waitFor();
    await page.goBack();
    await heading('Send a text').waitFor();
  });

  test('is led to a field and to an error by their addresses', async () => {
    await page.goto(`${url}/docs/reference/sendMessages#body-messages-validity_seconds`);
    await page.locator('[id="body-messages-validity_seconds"][data-target]').getByText('86400').waitFor();
    await page.goto(`${url}/docs/reference/sendSms#error-SPEND_LIMIT`);
    await page.locator('[id="error-SPEND_LIMIT"][data-target]').waitFor();
    await page.getByRole('tab', { name: '402', selected: true }).waitFor();
    await page.getByRole('link', { name: 'MALFORMED_JSON', exact: true }).click();
    await page.getByRole('tab', { name: '400', selected: true }).waitFor();
    await page.getByRole('tabpanel', { name: '400' }).getByText('"MALFORMED_JSON"').waitFor();
    await page.locator('[id="error-429"]').getByRole('link', { name: 'no code' }).waitFor();
  });

  test('is led from an error response to the page that explains it', async () => {
    const refused = await fetch(`${url}/sms/v1/messages`, { method: 'POST' });
    const [, help = ''] = /^<(\S+)>; rel="help"$/.exec(refused.headers.get('link') ?? '') ?? [];
    await page.goto(help);
    await heading('UNAUTHENTICATED').waitFor();
    await page.getByText('What to do.').waitFor();
    await assertGood(page, 'An error');
    await follow(page, '/docs/errors', heading('Errors'));
    await assertGood(page, 'All errors');
  });

  test('reads a guide with the calls in five languages, and finds it by its text and by a word of elsewhere', async () => {
    await follow(page, '/docs/guides/first-text', heading('Your first text in a minute'));
    const call = page.getByRole('figure', { name: 'Sample' }).first();
    await call.getByRole('tab', { name: 'Go' }).click();
    await call.getByText(`${url}/sms/v1/messages`).waitFor();
    assert.equal(await call.getByRole('tab').count(), 5);
    await page.getByText(`export HELIOGRAPH_URL=${url}`).waitFor();
    await call.getByRole('tab', { name: 'Python' }).click();
    await assertGood(page, 'A guide');
    for (const [query, found] of [
      ['otp', /verification/i],
      ['twilio', /Twilio/],
      ['byte for byte', /Verify the signature/],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill(query);
      await page.getByRole('option', { name: found }).first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('combobox').waitFor({ state: 'detached' });
    }
  });

  test('reads that an unknown operation does not exist, and reads those of operators', async () => {
    await follow(page, '/docs/reference/nothing', heading('Operation not found'));
    await follow(page, '/docs/reference', heading('All operations'));
    await assertGood(page, 'All operations');
    await page.getByRole('navigation', { name: 'Reference' }).getByText('Operations', { exact: true }).last().click();
    await page.getByRole('navigation', { name: 'Reference' }).getByText('Check that this node is ready').waitFor();
    await follow(page, '/docs/reference/createWebhook', page.getByText('A session of the portal'));
    await assertGood(page, 'An operation of the portal');
  });
});

describe('a developer', () => {
  const key = () => stage.service.output().match(/hg_sandbox_\w+/)?.[0] ?? '';

  test('tries a call with a key of this tab: sees what was sent and answered, and it is on the handset', async () => {
    await page.goto(`${url}/docs/reference/sendSms`);
    await heading('Send a text').waitFor();
    await assertSteady(page, 'Send a text');
    await page.getByText('Send an API key in the header apikey.').waitFor();
    await page.getByRole('button', { name: 'Try it' }).press('Enter');
    await page.getByText('Enter your credential first.').waitFor();
    await forgetShifts(page);
    assert.ok(await page.getByRole('button', { name: 'Send request' }).isDisabled(), 'nothing to send yet');
    await page.getByLabel('API key').first().fill(key());
    await page.getByRole('textbox', { name: 'Body' }).fill('{"to": ');
    await page.getByText('Enter JSON.').waitFor();
    const body = { to: '+15005550100', from: 'ACME', message: 'It\'s "here" \\ $5 😀' };
    await page.getByRole('textbox', { name: 'Body' }).fill(JSON.stringify(body));
    await page.getByText('Sandbox: texts stay on this machine.').waitFor();
    await page.getByRole('button', { name: 'Send request' }).press('Enter');
    await page.getByText('201: request succeeded').first().waitFor();
    const answer = page.getByRole('region', { name: 'Response', exact: true });
    for (const header of ['x-correlation-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      await answer.getByText(`${header}:`).waitFor();
    await answer.getByText('"status": "queued"').waitFor();
    assert.ok(!(await page.getByRole('region', { name: 'Request' }).innerText()).includes(key()), 'the key is masked');
    await assertGood(page, 'Try it');
    const inbox = await fetch(`${url}/sandbox/v1/inbox?to=%2B15005550100`, { headers: { apikey: key() } });
    assert.match(await inbox.text(), /\$5 😀/);
  });

  test('has the key in every sample, after a reload too, and the id of the text where one is asked for', async () => {
    await page.getByRole('tab', { name: 'PHP' }).click();
    await page.getByRole('button', { name: 'Copy the sample in PHP' }).click();
    assert.ok((await clipboard()).includes(`'apikey: ${key()}'`), 'the key is in the sample');
    assert.ok((await clipboard()).includes(`'message' => 'It\\'s "here" \\\\ $5 😀'`), 'and the text that was typed');
    await page
      .getByRole('navigation', { name: 'Reference' })
      .getByRole('link', { name: /Read a message/ })
      .click();
    await heading('Read a message').waitFor();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByRole('region', { name: 'Response', exact: true }).getByText('"status": "delivered"').waitFor();
    await page.reload();
    await heading('Read a message').waitFor();
    await page.getByText('The samples contain your key').waitFor();
  });

  test('gets a token on the way, and follows a call to its trace when signed in', async () => {
    const credentials = stage.service.output();
    await follow(page, '/docs/reference/startVerification', heading(await summaryOf('startVerification')));
    await page.getByRole('button', { name: 'Try it' }).click();
    await page
      .getByLabel('Client id')
      .first()
      .fill(credentials.match(/cli_\w+/)?.[0] ?? '');
    await page
      .getByLabel('Client secret', { exact: true })
      .first()
      .fill(credentials.match(/hgs_\w+/)?.[0] ?? '');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('200: request succeeded').first().waitFor();
    await page.locator('summary', { hasText: 'getToken' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Trace request' }).count(), 0);

    // The link of the first start signs in once; afterwards it leads to the form.
    const link = credentials.match(/http\S+#\/sign-in\/\w+/)?.[0] ?? '';
    await page.goto(link);
    await heading('Applications').waitFor();
    assert.ok(!page.url().includes('sign-in'), 'the link is in the history');
    const again = await openWindow(stage.browser, url);
    await again.page.goto(link);
    await again.page.getByText('This sign-in link no longer works').waitFor();
    await again.page.getByLabel('Password', { exact: true }).waitFor();
    await again.context.close();
    await page.getByRole('banner').getByRole('link', { name: 'Reference' }).click();
    await heading('Build with Heliograph').waitFor();
    await page.getByText('SMS Messaging API', { exact: true }).first().click();
    await page
      .getByRole('navigation', { name: 'Reference' })
      .getByRole('link', { name: /Send a text/ })
      .click();
    await heading('Send a text').waitFor();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('201: request succeeded').first().waitFor();
    await page.getByRole('button', { name: 'Trace request' }).click();
    await page.getByRole('heading', { name: '201 POST /sms/v1/messages' }).waitFor();
  });

  test('leaves nothing behind by signing out', async () => {
    // The trace is open beside its list.
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading('Sign in').waitFor();
    const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    assert.ok(!/hg_|hgs_/.test(stored), 'no credential is stored');
    await follow(page, '/docs/reference/sendSms', page.getByText('Put your key into the samples'));
  });
});

describe('every page is for everybody', () => {
  test('axe finds nothing serious in light or dark, and no page is wider than its window', async () => {
    const all = await operations();
    assert.ok(all.length > 30, `${all.length} operations`);
    // A body with lists, and a form. The walk above has seen parameters and a simple body; the long form has all.
    const some = new Set(['sendMessages', 'getToken']);
    for (const { operationId, summary } of all.filter((each) => inShort(some.has(each.operationId), true))) {
      await page.goto(`${url}/docs/reference/${operationId}`);
      await heading(summary).waitFor();
      await assertSteady(page, operationId);
      // What the test opens itself moves the rest, which is no jump.
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
      await assertAccessible(page, operationId);
      await assertFitsWindows(page, operationId);
    }
  });

  test('nothing was asked of another host, no policy was broken, and nothing was thrown', () => {
    assert.deepEqual([...hosts], [new URL(url).host]);
    assert.deepEqual(portal.faults, []);
  });
});
