// run: with pages of operators
// An operator's day: a virtual SMSC as a carrier, a route to it, and what happens when it is paused.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { type Double, startDouble } from '../providers/provider.ts';
import { alsoInLong, inShort } from '../support/effort.ts';
import {
  assertGood as assertGoodPage,
  createApplication,
  desk,
  factOf,
  forgetShifts,
  openAsOperator,
  openTab,
  openWindow,
  type Portal,
  phone,
  register,
  resize,
  type Stage,
  setStage,
  waitForText,
} from './browser.ts';

let stage: Stage;
let portal: Portal;
let page: Page;
let near: Smsc;
let far: Smsc;
let provider: Double;
before(async () => {
  const behaviour = { receipt_after_ms: 0 };
  [stage, near, far] = await Promise.all([setStage({}), startSmsc({ behaviour }), startSmsc({ behaviour })]);
  provider = await startDouble(({ path }) => ({ status: 201, body: { sid: `SM${path.length}` } }));
  portal = await openWindow(stage.browser, stage.service.url);
  page = portal.page;
  // What was built knows no secret.
  page.on('response', (response) => {
    if (!response.url().includes('/assets/')) answers.push(response.text().catch(() => ''));
  });
  await openAsOperator(stage, page, 'boss@example.com');
});
after(async () => {
  await stage.close();
  await Promise.all([near.close(), far.close(), provider.close()]);
});

const british = '+447400123456';
const accountPassword = 'sunlit-42';
/** Of carriers by HTTP: two of a preset, one of a description. */
const httpSecrets = ['auth-token-Zq7', 'key-secret-Zq8', 'described-Zq9'] as const;
/** All that the service has answered to the pages. */
const answers: Promise<string>[] = [];

function openPage(name: string): Promise<void> {
  return page
    .getByRole('navigation', { name: 'Operations' })
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click();
}

/** Neither the page nor anything that a page was ever answered has a secret of a carrier. */
async function assertNoSecret(name: string): Promise<void> {
  const seen = [await page.content(), ...(await Promise.all(answers))];
  for (const secret of [accountPassword, ...httpSecrets]) {
    assert.ok(!seen.some((text) => text.includes(secret)), `${name}: ${secret} is on no page and in no answer`);
  }
}

async function assertGood(name: string): Promise<void> {
  await assertNoSecret(name);
  await assertGoodPage(page, name);
}

/** A call of the portal API by the operator who is signed in. */
async function callApi(method: string, path: string, body: object): Promise<void> {
  const response = await page.request.fetch(`${stage.service.url}/portal/v1/operator/${path}`, { method, data: body });
  const answer = await response.text();
  assert.ok(response.ok(), `${method} ${path}: ${answer}`);
  answers.push(Promise.resolve(answer));
}

function settingsOf({ port }: Smsc): object {
  return { host: '127.0.0.1', port, system_id: 'heliograph', password: accountPassword };
}

describe('an operator', () => {
  test('adds a virtual SMSC as a carrier, and sees its connection come up', async () => {
    await page.getByRole('link', { name: 'Operations' }).click();
    await openPage('Approvals');
    await page.getByText('The sandbox approves every registration at once').waitFor();
    await openPage('Carriers');
    await page.getByRole('button', { name: 'Add a carrier' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('button', { name: 'Add carrier' }).click();
    await drawer.getByText(/^Host is required/).waitFor();
    await assertGood('Add a carrier');
    await drawer.getByLabel('Name', { exact: true }).fill('near');
    await drawer.getByLabel('Host').fill('127.0.0.1');
    await drawer.getByLabel('Port').fill(String(near.port));
    await drawer.getByLabel('System id').fill('heliograph');
    await drawer.getByLabel('Password').fill(accountPassword);
    await drawer.getByRole('button', { name: 'Add carrier' }).click();
    await page.getByRole('heading', { name: 'near', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Connections' }).getByText('bound').waitFor();
    await assertNoSecret('A new carrier');
  });

  test('tests it, and follows the steps to the receipt', async () => {
    await page.getByRole('button', { name: 'Test near' }).click();
    const progress = page.getByRole('region', { name: 'Progress of the test' });
    await progress.getByText('Test passed: the text arrived').waitFor();
    await progress.getByText(/Already bound as a transceiver since/).waitFor();
    assert.equal(near.texts().length, 1);
    await assertGood('A carrier');
  });

  test('reads what the carrier said of a text that it refused, in the test and in the log', async () => {
    near.change({ refuse_every: 1, refuse_status: 0x45 });
    await page.getByRole('button', { name: 'Test near' }).click();
    const progress = page.getByRole('region', { name: 'Progress of the test' });
    await progress.getByText('The carrier refused the text: blocked_by_carrier (0x45: submit failed).').waitFor();
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByRole('button', { name: 'Refresh' }).click();
    await log.getByRole('row', { name: /submit_sm_resp 0x45: submit failed/ }).waitFor();
    await log.getByRole('row', { name: /deliver_sm stat:DELIVRD err:000/ }).waitFor();
    near.change({ refuse_every: 0 });
  });

  test('changes a setting, and the others stay', async () => {
    await page.getByLabel('Parts per second').fill('50');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('version 2').waitFor();
    assert.equal(await page.getByLabel('Parts per second').inputValue(), '50');
    assert.equal(await page.getByLabel('System id').inputValue(), 'heliograph');
    await page.getByRole('region', { name: 'Connections' }).getByText('bound').waitFor();
  });

  test('enters the password again when the address changes, and is not asked for it otherwise', async () => {
    const asked = page.getByText('Enter it again: you changed the address');
    const save = page.getByRole('button', { name: 'Save settings' });
    for (const [host, version] of [
      ['localhost', 3],
      ['127.0.0.1', 4],
    ] as const) {
      assert.equal(await asked.count(), 0);
      await page.getByLabel('Host').fill(host);
      await asked.waitFor();
      await save.click();
      await page.getByText('Enter the marked secrets again before you save').waitFor();
      await page.getByLabel('Password').fill(accountPassword);
      await asked.waitFor({ state: 'detached' });
      await save.click();
      await page.getByText(`version ${version}`).waitFor();
    }
    await page.getByRole('region', { name: 'Connections' }).getByText('bound').waitFor();
    await forgetShifts(page);
  });

  test('tries it now, while it waits for its next try', async () => {
    const tryNow = page.getByRole('button', { name: 'Try now near' });
    assert.equal(await tryNow.count(), 0, 'a carrier that is up has nothing to try');
    near.change({ bind_status: 0x0e });
    await callApi('PATCH', 'carriers/near', { settings: { system_type: 'VMA' } });
    await tryNow.waitFor();
    await assertGood('A carrier that waits');
    near.change({ bind_status: 0 });
    await tryNow.click();
    await page.getByRole('region', { name: 'Connections' }).getByText('bound').waitFor();
    await tryNow.waitFor({ state: 'detached' });
    // The problem and its button have gone, and the page is shorter.
    await forgetShifts(page);
  });

  test('routes a country to it, after reading the draft and the difference', async () => {
    await callApi('POST', 'carriers', { name: 'far', kind: 'smpp', settings: settingsOf(far) });
    await openPage('Routes');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Name', { exact: true }).fill('britain');
    await drawer.getByLabel('Countries').fill('gb');
    await drawer.getByLabel('Carrier 1').selectOption('near');
    await drawer.getByRole('button', { name: 'Add a failover carrier' }).click();
    await assertGood('A rule');
    await drawer.getByRole('button', { name: 'Done' }).click();
    await explain('near');
    await assertGood('Routes with a draft');
    await page.getByRole('button', { name: 'Review 1 change' }).click();
    await page.getByRole('dialog').getByText('added').waitFor();
    await page.getByText('From now on, texts that match no rule are refused').waitFor();
    await page.getByText(/^(Of .+ texts of the last day, these rules would have refused|No text was sent)/).waitFor();
    await assertGood('The review of routes');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a rule for the rest' }).click();
    await page.getByRole('dialog').getByText('rest', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save version 1' }).click();
    await page.getByText('Version 1, saved').waitFor();
  });

  test('pauses it, and sees a text go by the other one', async () => {
    const before = near.texts().length;
    await openPage('Carriers');
    await page.getByRole('button', { name: 'Pause near' }).click();
    await page.getByRole('article', { name: 'near' }).getByText('paused').waitFor();
    await openPage('Routes');
    await explain('far');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
    await createApplication(page, 'ACME');
    const dialog = await register(page, 'Verification');
    await dialog.getByRole('link', { name: 'Try it in the portal' }).click();
    await page.getByLabel('To', { exact: true }).fill(british);
    await page.getByRole('button', { name: 'Send code' }).click();
    await page
      .getByRole('log')
      .getByText(/is your ACME code/)
      .waitFor();
    assert.deepEqual([near.texts().length - before, far.texts().length], [0, 1]);
    await openTab(page, 'Verifications');
    await page.getByRole('link', { name: /pending/ }).click();
    await page
      .getByRole('region', { name: 'Attempts' })
      .getByRole('row', { name: /far accepted britain/ })
      .waitFor();
    await assertGood('A verification and its attempts');
    await page.goto(`${stage.service.url}/#/operator/carriers/far`);
    await page
      .getByRole('region', { name: 'Log' })
      .getByRole('row', { name: /submit_sm.*…456/ })
      .first()
      .waitFor();
  });

  test('is red on every page when it refuses every code, and the badge is on a phone too', async () => {
    far.change({ refuse_every: 1 });
    await page.goto(`${stage.service.url}/#/applications`);
    await page.getByRole('link', { name: 'ACME' }).click();
    await page.getByRole('heading', { name: 'ACME', level: 1 }).waitFor();
    const id = /app_\w+/.exec(page.url())?.[0];
    for (let n = 0; n < 3; n++) {
      const data = { to: `+44740012346${n}`, channel: 'sms' };
      const path = `${stage.service.url}/portal/v1/applications/${id}/try/verify/v1/verifications`;
      assert.equal((await page.request.post(path, { data })).status(), 200);
    }
    await page.getByRole('link', { name: '1 alert. Open Now' }).click();
    const says = /^far refuses 100 % of \d submits.*: 0x45: submit failed\.$/;
    await page.getByRole('article', { name: says }).waitFor();
    const ofFar = page.getByRole('article', { name: 'far', exact: true });
    await ofFar.getByText('refuses GB').waitFor();
    // That news move the rest of the page is no jump.
    await forgetShifts(page);
    await openPage('Carriers');
    await ofFar.getByText('refuses GB').waitFor();
    await ofFar.getByText(says).waitFor();
    await waitForText(factOf(ofFar, 'Refused submits'), '3');
    await assertGood('Carriers, while one refuses every code');
    await resize(page, phone);
    await page.getByRole('link', { name: '1 alert. Open Now' }).click();
    await ofFar.getByRole('columnheader', { name: 'Median' }).waitFor();
    const median = await ofFar.getByRole('columnheader', { name: 'Median' }).boundingBox();
    assert.ok((median?.x ?? 0) + (median?.width ?? 0) <= phone.width, 'seconds to the phone are in sight on a phone');
    await resize(page, desk);
    await page.goto(`${stage.service.url}/#/operator/carriers/far`);
    await page.getByText('refuses GB').waitFor();
    await page.getByText(says).waitFor();
    await openPage('Health');
    await page.getByRole('region', { name: 'Carriers' }).getByText('refuses GB').waitFor();
    far.change({ refuse_every: 0 });
  });

  /** Asks where a code to Britain would go now, and waits until the answer begins with this carrier. */
  async function explain(carrier: string): Promise<void> {
    await page.getByLabel('To', { exact: true }).fill(british);
    await page.getByLabel('API').selectOption('verify');
    await page.getByRole('button', { name: 'Explain' }).click();
    const first = page.getByRole('region', { name: 'Explanation' }).getByRole('listitem').first();
    await first.getByText(carrier).waitFor();
  }

  test('whose list is older than another operator’s overwrites nothing by accident', async () => {
    await openPage('Routes');
    await page.getByRole('button', { name: 'Remove britain' }).click();
    await page.getByRole('button', { name: 'Review 1 change' }).click();
    const france = { name: 'france', match: { countries: ['FR'] }, carriers: [{ carrier: 'far' }] };
    await callApi('PUT', 'routes', { version: 1, routes: [france] });
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Another operator saved first.').waitFor();
    await page.getByRole('dialog').getByText('france').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { name: 'france' }).waitFor();
  });

  test('adds providers by HTTP, and no page shows their secrets, whatever the providers answer', async () => {
    const [token, keySecret, described] = httpSecrets;
    const describeIt = { url: '{{base}}/send', headers: { Key: '{{secret:key}}' }, accepted: [{ status: [200] }] };
    const settings = { base: provider.url, describe: describeIt, secrets: { key: described } };
    await callApi('POST', 'carriers', { name: 'described', kind: 'http', settings });
    await openPage('Carriers');
    await page.getByRole('button', { name: 'Add a carrier' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Name', { exact: true }).fill('provider');
    await drawer.getByLabel('Account', { exact: true }).selectOption('Twilio');
    await drawer.getByLabel('Account SID').fill('AC1');
    await drawer.getByLabel('Auth token').fill(token);
    await drawer.getByLabel('API key SID').fill('SK1');
    await drawer.getByLabel('API key secret').fill(keySecret);
    await drawer.getByLabel('API address').fill(provider.url);
    await drawer.getByRole('button', { name: 'Add carrier' }).click();
    await page.getByRole('heading', { name: 'provider', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Connections' }).getByText('ready').waitFor();
    await assertNoSecret('A provider');
    const progress = page.getByRole('region', { name: 'Progress of the test' });
    // A refusal that repeats what it was given.
    provider.faults.push({ status: 400, body: { code: 21211, message: `${token} and ${keySecret} are wrong` } });
    await page.getByRole('button', { name: 'Test provider' }).click();
    await progress.getByText('The carrier refused the text: invalid_destination (HTTP 400, 21211).').waitFor();
    await page.getByRole('button', { name: 'Test provider' }).click();
    await progress.getByText(/Accepted by carrier/).waitFor();
    await page.getByLabel('Texts per second').fill('50');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('version 2').waitFor();
    await assertNoSecret('A provider after a change');
    await alsoInLong(() => assertGood('A provider after a change'));
    await page.getByText('Show URLs').click();
    const addresses = page.locator('details', { hasText: 'Show URLs' });
    const before = await addresses.innerText();
    await page.getByRole('button', { name: 'Replace URLs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace URLs' }).click();
    await page.getByText('version 3').waitFor();
    assert.notEqual(await addresses.innerText(), before, 'the addresses are new');
    await page.goto(`${stage.service.url}/#/operator/carriers/described`);
    await page.getByRole('heading', { name: 'described', level: 1 }).waitFor();
    await assertNoSecret('A described provider');
    const told = (await Promise.all(answers)).join('\n');
    assert.ok(told.includes('"auth_token_set":true'), 'the answers to the pages were seen');
    const { authorization } = provider.requests.at(-1)?.headers ?? {};
    assert.equal(authorization, `Basic ${btoa(`SK1:${keySecret}`)}`, 'the provider itself got the secret');
  });

  test('finds every page of operations accessible, and fit for a phone', async () => {
    const pages = ['Carriers', 'Deliveries', 'Totals', 'Alerts', 'Senders', 'Numbers', 'Opt-outs', 'Limits'];
    // In short without the one that operator.test.ts checks.
    for (const name of [...pages, ...inShort([], ['Traffic'])]) {
      await openPage(name);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await assertGood(name);
    }
    assert.deepEqual(portal.faults, []);
  });
});
