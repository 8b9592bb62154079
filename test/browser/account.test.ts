// run: with pages
// The account page, walked by an owner and by people it invites: members, roles, a second factor, sessions, and the end.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { fromBase32 } from '../support/base32.ts';
import {
  assertGood,
  createApplication,
  openPortal,
  type Portal,
  password,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';
import { walkAsEachRole } from './role-walk.ts';

let stage: Stage;
let owner: Portal;
let guest: Portal;
before(async () => {
  stage = await setStage();
  owner = await openPortal(stage.browser, stage.service.url);
  guest = await openPortal(stage.browser, stage.service.url);
});
after(() => stage.close());

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();

async function openAccount(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^Account of/ }).click();
  await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor();
  await panel(page, 'Sessions').getByRole('table').waitFor();
}

/** Leaves the page and comes back, so that it is read anew. */
async function openAgain(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await openAccount(page);
}

test('an owner invites a viewer, who sees the application and can change nothing', async () => {
  const { page } = owner;
  await signUp(page, 'owner@example.com');
  await createApplication(page, 'Shared');
  await openAccount(page);
  const members = panel(page, 'Members');
  await members.getByLabel('Invite by email').fill('guest@example.com');
  await members.getByLabel('Role', { exact: true }).selectOption('viewer');
  await members.getByRole('button', { name: 'Invite' }).click();
  const link = (await members.locator('pre').textContent()) ?? '';
  assert.match(link, /#\/invitation\/[0-9A-Za-z]{43}$/);
  await assertGood(page, 'account');

  await guest.page.goto(link);
  await guest.page.getByText('You are invited to join').waitFor();
  await assertGood(guest.page, 'invitation');
  await guest.page.getByLabel('Choose a password').fill(password);
  await guest.page.getByRole('button', { name: 'Join account' }).click();
  await guest.page.getByRole('link', { name: 'Shared' }).first().waitFor();
  assert.equal(await guest.page.getByRole('button', { name: 'Create an application' }).count(), 0);
  await openAccount(guest.page);
  assert.equal(await panel(guest.page, 'Members').getByRole('button', { name: 'Invite' }).count(), 0);
});

test('a change of role acts at once', async () => {
  await openAgain(owner.page);
  const members = panel(owner.page, 'Members');
  await members.getByLabel('Role of guest@example.com').selectOption('developer');
  await toast(owner.page, 'Role changed');
  // The page learns of it with its next load.
  await guest.page.goto(`${stage.service.url}/?1#/applications`);
  await createApplication(guest.page, 'Mine');
});

test('in the sandbox, a viewer is offered nothing that changes, and a developer all of it', () =>
  walkAsEachRole(stage));

test('a second factor is set up by its secret, and asked for at the next sign-in', async () => {
  const { page } = guest;
  await openAccount(page);
  const factor = panel(page, 'Second factor');
  await factor.getByRole('button', { name: 'Set up a second factor' }).click();
  await factor.getByLabel('Your password').fill('wrong');
  await factor.getByRole('button', { name: 'Continue' }).click();
  await factor.getByText('is wrong').waitFor();
  await factor.getByLabel('Your password').fill(password);
  await factor.getByRole('button', { name: 'Continue' }).click();
  await factor.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  await assertGood(page, 'second factor');
  const secret = fromBase32((await factor.locator('pre').textContent()) ?? '');
  const step = stepAt(Date.now());
  await factor.getByLabel('Code', { exact: true }).fill(codeOf(secret, step));
  await factor.getByRole('button', { name: 'Turn on' }).click();
  await factor.getByText('Save these recovery codes').waitFor();
  assert.equal(await factor.getByRole('listitem').count(), 10);
  await factor.getByRole('button', { name: 'I saved them' }).click();
  await factor.getByText('10 recovery codes left').waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
  await page.getByLabel('Email').fill('guest@example.com');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('is wrong or was used before').waitFor();
  // The code of the next step is accepted already, and was not used yet.
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret, Math.max(step, stepAt(Date.now())) + 1));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Mine' }).first().waitFor();

  await openAccount(page);
  const signIns = panel(page, 'Recent sign-ins');
  await signIns.getByRole('row', { name: /wrong code 127\.0\.0\.1 second factor/ }).waitFor();
  await signIns.getByRole('row', { name: /asked for a code 127\.0\.0\.1 password/ }).waitFor();
  await assertGood(page, 'account with sign-ins');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: 'Mine' }).first().waitFor();
});

test('an owner removes a member, changes the password, and deletes the account', async () => {
  const { page } = owner;
  const members = panel(page, 'Members');
  await members.getByRole('button', { name: 'Remove guest@example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await toast(page, 'Member removed');
  await guest.page.getByRole('link', { name: /^Account of/ }).click();
  await guest.page.getByRole('heading', { name: 'Sign in' }).waitFor();

  const ofPassword = panel(page, 'Password');
  await ofPassword.getByLabel('Current password').fill(password);
  await ofPassword.getByLabel('New password').fill('short');
  await ofPassword.getByRole('button', { name: 'Change password' }).click();
  await ofPassword
    .getByText(/at least 8/i)
    .last()
    .waitFor();

  const end = panel(page, 'Delete your account');
  await end.getByRole('button', { name: 'Delete your account' }).click();
  await end.getByLabel('Your password').fill(password);
  await end.getByRole('button', { name: 'Delete account' }).click();
  await page.getByRole('button', { name: 'Create account' }).waitFor();
});
