// run: with pages
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import twilio from 'twilio';
import { createRegistered } from '../support/applications.ts';
import { alsoInLong } from '../support/effort.ts';
import {
  assertGood,
  assertSteady,
  openTab,
  openWindow,
  type Portal,
  resize,
  type Stage,
  setStage,
  signInAs,
} from './browser.ts';

/** Six labels: twilio-node would call another host. */
const publicUrl = 'http://sms.eu.west.prod.acme.example';

let stage: Stage;
let portal: Portal;
let page: Page;
before(async () => {
  stage = await setStage({ HELIOGRAPH_PUBLIC_URL: publicUrl });
  const { url } = stage.service;
  const { id, developer } = await createRegistered(stage.service, ['sms', 'verify'], 'enterprise');
  portal = await openWindow(stage.browser, url);
  page = portal.page;
  await signInAs(page, url, developer.cookie);
  await page.goto(`${url}/#/applications/${id}/integrations`);
});
after(() => stage.close());

/** Where an address of the service leads here. */
const reachable = (address: string) => address.replace(publicUrl, stage.service.url);

const dialog = () => page.getByRole('dialog');
const region = (title: string) => page.getByRole('region', { name: title, exact: true });
const calls = () => region('Last calls').getByRole('listitem');
const handset = (number: string) => page.getByRole('log', { name: `Texts to ${number}` });

/** The value of a row of settings, or of credentials. */
async function textOf(part: Locator, name: string): Promise<string> {
  const row = part.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
  return (await row.locator('pre').textContent()) ?? '';
}

async function takeCopied(): Promise<void> {
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  await dialog().waitFor({ state: 'hidden' });
}

/** Nothing jumps or is too wide on a desk with much room. */
async function assertFitsDesk(name: string): Promise<void> {
  await resize(page, { width: 1440, height: 900 });
  const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(tooWide <= 0, `${name} is ${tooWide} px too wide`);
  await assertSteady(page, name);
  await resize(page, { width: 1280, height: 900 });
}

/** A call of Supabase Auth. */
function callAsSupabase(url: string, secret: string, phone: string, otp: string): Promise<Response> {
  const body = JSON.stringify({ user: { phone }, sms: { otp } });
  const at = new Date();
  const id = crypto.randomUUID();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret.replace(/^v1,/, '')).sign(id, at, body),
  };
  return fetch(reachable(url), { method: 'POST', headers, body });
}

describe('a developer whose identity server makes the codes', () => {
  const secrets: string[] = [];
  let url: string;

  test('chooses Supabase, and gets its address, secret and settings to paste', async () => {
    await page.getByText('Another server').waitFor();
    await assertGood(page, 'Integrations, empty');
    await assertFitsDesk('Integrations, empty');
    await page.getByRole('button', { name: /Supabase Auth/ }).click();
    await dialog().getByLabel('Language', { exact: true }).fill('not one');
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await dialog().getByText('Enter a BCP 47 language tag', { exact: false }).waitFor();
    await alsoInLong(() => assertGood(page, 'A wrong language'));
    await dialog().getByLabel('Language', { exact: true }).fill('de');
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    const secret = (await dialog().locator('pre').first().textContent()) ?? '';
    assert.match(secret, /^v1,whsec_/);
    secrets.push(secret);
    assert.equal(await textOf(dialog(), 'GOTRUE_HOOK_SEND_SMS_SECRETS'), secret);
    url = await textOf(dialog(), 'GOTRUE_HOOK_SEND_SMS_URI');
    await dialog().getByRole('button', { name: 'Copy the setting GOTRUE_HOOK_SEND_SMS_URI' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), url);
    await alsoInLong(() => assertGood(page, 'The secret of a hook'));
    await takeCopied();
    await page.getByText('No calls yet').waitFor();
    await region('Settings at Supabase Auth').getByText('The secret that was shown once', { exact: false }).waitFor();
    assert.ok(!(await page.content()).includes(secret), 'the secret is shown once');
    await alsoInLong(() => assertGood(page, 'A hook without calls'));
    await assertFitsDesk('A hook without calls');
  });

  test('presses Test, and sees the text on the handset and the call in the list', async () => {
    await page.getByLabel('To', { exact: true }).fill('nobody');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('Enter a plus, the country code', { exact: false }).waitFor();
    await page.getByLabel('To', { exact: true }).fill('+15005550131');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await region('Test').getByText('See the handset.').waitFor();
    await handset('+15005550131')
      .getByText(/^\d{6} ist Ihr Code/)
      .waitFor();
    await calls().getByText('sent', { exact: true }).waitFor();
    await page.getByLabel('To', { exact: true }).fill('+15005550112');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await region('Test').getByText('The guard blocked this number', { exact: false }).waitFor();
    await region('Test').getByRole('link', { name: 'Verification' }).waitFor();
  });

  test('reads what became of the calls of the server, and why', async () => {
    assert.equal((await callAsSupabase(url, secrets[0] ?? '', '15005550132', '481516')).status, 200);
    await callAsSupabase(url, 'v1,whsec_d3Jvbmc=', '15005550132', '481516');
    await calls().getByText('wrong proof').waitFor();
    await calls().getByText('Its clock must be right', { exact: false }).waitFor();
    await page.getByRole('button', { name: '+15005550132' }).click();
    await handset('+15005550132')
      .getByText(/^481516 ist Ihr Code/)
      .waitFor();
    await assertGood(page, 'A hook with calls');
    await calls().filter({ hasText: 'sent' }).first().getByRole('link', { name: 'Request' }).click();
    await page.getByRole('heading', { name: '200 POST /hooks/v1/{kind}/{hook_id}' }).waitFor();
    await page.goBack();
    await calls().first().waitFor();
  });

  test('edits the hook, and makes a new secret beside the older one', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Language', { exact: true }).fill('fr');
    await dialog().getByText('Other fields of the payload').click();
    await dialog().getByLabel('IP address field').fill('metadata');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Enter a JSON pointer such as', { exact: false }).waitFor();
    await dialog().getByLabel('IP address field').fill('/metadata/ip');
    await dialog().getByText('"ip": "203.0.113.7"').waitFor();
    await assertGood(page, 'Edit a hook');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('/metadata/ip').waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await dialog().getByLabel('Older secrets').selectOption('3600');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    secrets.push((await dialog().locator('pre').first().textContent()) ?? '');
    await takeCopied();
    await page.getByText('2 in force, the older one until', { exact: false }).waitFor();
    for (const [count, secret] of secrets.entries())
      assert.equal((await callAsSupabase(url, secret, `1500555014${count}`, '481516')).status, 200);
  });

  test('adds a server of its own by pointers, and one that makes its key', async () => {
    await page.getByRole('link', { name: 'All integrations' }).click();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await dialog()
      .getByRole('button', { name: /Another server/ })
      .click();
    await dialog().getByLabel('Number field').fill('/data/phone');
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await dialog().getByText('Code field or pointers.text is required').waitFor();
    await dialog().getByLabel('Code field').fill('/data/otp');
    await alsoInLong(() => assertGood(page, 'A server of your own'));
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await dialog().getByText(`-d '{"data":{"phone":"+15005550100","otp":"482910"}}'`, { exact: false }).waitFor();
    const [address, authorization] = [await textOf(dialog(), 'url'), await textOf(dialog(), 'Authorization')];
    await takeCopied();
    const answer = await fetch(reachable(address), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ data: { phone: '+15005550133', otp: '771177' } }),
    });
    assert.equal(answer.status, 200);
    await calls().getByText('sent', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'All integrations' }).click();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await dialog()
      .getByRole('button', { name: /ZITADEL/ })
      .click();
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await dialog().locator('input:focus[aria-invalid=true]').waitFor();
    await dialog().getByLabel('Signing key').fill('made by ZITADEL');
    await dialog().getByRole('button', { name: 'Create hook' }).click();
    await region('Settings at ZITADEL').getByText('/hooks/v1/zitadel/', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'New signing key' }).click();
    await dialog().getByLabel('New signing key').fill('made anew');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await page.getByText('2 in force, the older one until', { exact: false }).waitFor();
  });

  test('deletes a hook, whose calls are refused from then on', async () => {
    await page.getByRole('link', { name: 'All integrations' }).click();
    await assertGood(page, 'Integrations');
    await assertFitsDesk('Integrations');
    await page.getByRole('link', { name: /Supabase Auth/ }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByText('Calls of Supabase Auth get a 404 at once', { exact: false }).waitFor();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: /ZITADEL/ }).waitFor();
    assert.equal(await page.getByRole('link', { name: /Supabase Auth/ }).count(), 0);
    assert.equal((await callAsSupabase(url, secrets[1] ?? '', '15005550143', '481516')).status, 404);
  });
});

describe("a developer whose program has Twilio's library, on a phone", () => {
  const onPhone = () => resize(page, { width: 390, height: 844 });
  let token: string;

  async function startWith(credentials: Locator, authToken: string): Promise<string> {
    const value = (name: string) => textOf(credentials, name);
    const client = twilio(await value('Account SID'), authToken);
    client.verify.baseUrl = reachable(await value('Base URL'));
    const service = client.verify.v2.services(await value('Verify service SID'));
    return (await service.verifications.create({ to: '+15005550134', channel: 'sms' })).status;
  }

  test('is warned of the host name, creates credentials, sees the token once, and the lines to change', async () => {
    await openTab(page, 'Integrations');
    await page.getByRole('link', { name: 'Use Twilio’s library' }).click();
    await page.getByText('No credentials yet').waitFor();
    await page.getByText('Do not use twilio-node with this host name').waitFor();
    await page.getByText('sms.eu.west.acme.example', { exact: true }).waitFor();
    await onPhone();
    await page.getByRole('button', { name: 'Create credentials' }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    token = await textOf(dialog(), 'Auth token');
    assert.match(token, /^[0-9a-f]{32}$/);
    const sid = await textOf(dialog(), 'Account SID');
    await dialog().getByText(`twilio('${sid}', '${token}')`, { exact: false }).waitFor();
    await assertGood(page, 'A new token');
    await onPhone();
    await takeCopied();
    assert.ok(!(await page.content()).includes(token), 'the token is shown once');
    for (const [language, word] of [
      ['Python', 'client.verify.base_url'],
      ['PHP', 'CurlClient'],
      ['Java', 'NetworkHttpClient'],
      ['Go', 'RoundTrip'],
    ] as const) {
      await page.getByText(language, { exact: true }).click();
      await region('The lines to change').locator('pre', { hasText: word }).getByText(sid, { exact: false }).waitFor();
    }
    await assertGood(page, 'Credentials for Twilio’s library');
    await assertFitsDesk('Credentials for Twilio’s library');
  });

  test('sends a code with them, rotates the token, and deletes them', async () => {
    const credentials = region('Use Twilio’s library');
    assert.equal(await startWith(credentials, token), 'pending');
    await onPhone();
    await page.getByRole('button', { name: 'New token' }).click();
    await dialog().getByLabel('Older tokens').selectOption('0');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    const fresh = await textOf(dialog(), 'Auth token');
    await takeCopied();
    await assert.rejects(startWith(credentials, token), { status: 401 });
    assert.equal(await startWith(credentials, fresh), 'pending');
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No credentials yet').waitFor();
    await alsoInLong(() => assertGood(page, 'No credentials for Twilio’s library'));
    assert.deepEqual(portal.faults, []);
  });
});
