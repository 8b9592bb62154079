// run: with pages of operators
// Single sign-on in a browser, and the public keys of a client.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type SsoProvider, startSsoProvider } from '../support/sso-provider.ts';
import { ssoEnv } from '../support/sso-world.ts';
import {
  assertGood,
  createApplication,
  openPortal,
  openTab,
  type Portal,
  password,
  register,
  type Stage,
  setStage,
  signInAsOperator,
  signUp,
} from './browser.ts';

let provider: SsoProvider;
let stage: Stage;
let portal: Portal;
let page: Page;
before(async () => {
  provider = await startSsoProvider('http://127.0.0.1/');
  stage = await setStage({ ...ssoEnv(provider), HELIOGRAPH_SSO_OPERATORS: 'groups=admins' });
  provider.set({ callback: `${stage.service.url}/portal/v1/sso/callback` });
  portal = await openPortal(stage.browser, stage.service.url);
  ({ page } = portal);
});
after(async () => {
  await stage.close();
  await provider.close();
});

const toProvider = () => page.getByRole('button', { name: /^Sign in at 127\.0\.0\.1:\d+$/ });

test('a person signs in at the provider and is back where the page was', async () => {
  provider.user = undefined;
  await page.goto(`${stage.service.url}/#/applications`);
  await assertGood(page, 'Sign in');
  await toProvider().click();
  await page.getByText('You were not signed in').waitFor();
  await assertGood(page, 'Denied');
  provider.user = { sub: 'ada', claims: { email: 'ada@example.com' } };
  await toProvider().click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  await page.getByRole('link', { name: /ada@example\.com/ }).click();
  await page.getByText('You signed in by single sign-on.').waitFor();
  assert.equal(await page.getByLabel('Current password').count(), 0, 'it has no password to change');
  await assertGood(page, 'Account');
});

test('signing out ends here, and goes on to the provider', async () => {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${provider.issuer}/session/end?**`);
  await page.goto(`${stage.service.url}/#/account`);
  await toProvider().waitFor();
});

test('every fault has its sentence', async () => {
  for (const fault of ['expired', 'unavailable', 'failed', 'mfa', 'disabled']) {
    await page.goto(`${stage.service.url}/#/sign-in?sso=${fault}`);
    await page.getByRole('alert').first().waitFor();
  }
});

test('an account with a password joins from its own session, and adds a public key', async () => {
  // The session at the provider goes on until its page has ended it.
  await portal.context.clearCookies();
  await page.goto(`${stage.service.url}/#/sign-up`);
  await signUp(page, 'joins@example.com');
  provider.user = { sub: 'joiner', claims: {} };
  await page.getByRole('link', { name: /joins@example\.com/ }).click();
  await page.getByRole('button', { name: 'Join this account' }).click();
  await page.getByLabel('Your password').fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Your account is joined').waitFor();
  await assertGood(page, 'Joined');
  await page.getByRole('button', { name: 'Leave single sign-on' }).click();
  await page.getByText('will no longer open this account').waitFor();
  await assertGood(page, 'Leaving');
  await page.getByLabel('Your password').fill(password);
  await page.getByRole('button', { name: 'Leave single sign-on' }).click();
  await page.getByText('You have left single sign-on').waitFor();
  await page.getByRole('button', { name: 'Join this account' }).waitFor();

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await createApplication(page, 'Signs');
  const dialog = await register(page, 'Verification');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await openTab(page, 'Credentials');
  await page.getByText('No public key').waitFor();
  await page.getByRole('button', { name: 'Add public key' }).click();
  await page.getByLabel('Name').fill('Billing server');
  await page.getByLabel('Public key', { exact: true }).fill('nonsense');
  const add = page.getByRole('button', { name: 'Add', exact: true });
  await add.click();
  await page.getByText('Enter a public key').waitFor();
  const { publicKey } = generateKeyPairSync('ed25519');
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
  await page.getByLabel('Public key', { exact: true }).fill(pem);
  await add.click();
  await page.getByText('Billing server').waitFor();
  await assertGood(page, 'Public keys');
  await page.getByRole('button', { name: 'Delete the public key Billing server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('No public key').waitFor();
  assert.deepEqual(portal.faults, []);
});

test('where single sign-on is the only way in, no page asks for a password', async () => {
  const only = await setStage({ ...ssoEnv(provider), HELIOGRAPH_SSO_ONLY: 'true' });
  try {
    const { url } = only.service;
    provider.set({ callback: `${url}/portal/v1/sso/callback` });
    const { page, faults } = await openPortal(only.browser, url);
    const button = page.getByRole('button', { name: /^Sign in at 127\.0\.0\.1:\d+$/ });
    const showsNoPassword = async (name: string) => {
      await button.waitFor();
      assert.equal(await page.locator('input').count(), 0, name);
      assert.equal(await page.getByText('Sign up', { exact: true }).count(), 0, name);
      await assertGood(page, name);
    };
    await showsNoPassword('Landing');
    for (const path of ['/sign-in', '/applications', '/sign-in?sso=only', '/sign-in?sso=unavailable']) {
      await page.goto(`${url}/#${path}`);
      await showsNoPassword(path);
    }
    provider.user = { sub: 'only', claims: { email: 'only@example.com' } };
    await button.click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    await page.getByRole('link', { name: /only@example\.com/ }).click();
    await page.getByText('You signed in by single sign-on.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Leave single sign-on' }).count(), 0);
    await assertGood(page, 'Account');
    await only.database.query('delete from session');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
    await page.getByText('Your session has ended').waitFor();
    await showsNoPassword('Session over');
    // The way in that is left when the provider is away.
    await signInAsOperator(only, page);
    assert.deepEqual(faults, []);
  } finally {
    await only.close();
  }
});
