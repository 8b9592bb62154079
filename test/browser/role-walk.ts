import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { asDeveloper, createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';
import {
  assertAccessible,
  assertFitsPhone,
  assertSteady,
  openPortal,
  type Portal,
  password,
  type Stage,
} from './browser.ts';

const tabs = [
  'overview',
  'credentials',
  'senders',
  'try',
  'messages',
  'inbound',
  'verifications',
  'events',
  'webhooks',
  'usage',
  'requests',
];

/** Buttons that read: they search, filter and copy. Everything else changes something. */
const reading = /^(Search|Clear|Find|Show more|Copy .*|Try again|Try it)$/;

/** What a developer finds on these pages, and a viewer does not. */
const changing = [
  'Create an application',
  'Free · Change plan for SMS Messaging',
  'Register for Messaging',
  'Delete application',
  'Create API key',
  'Rotate API keys',
  'Create client secret',
  'Request a sender',
  'Remove ACME',
  'Send',
  'Save',
  'Add webhook',
  'Send test',
  'Pause',
  'Replay a period',
];

/** A new person who joins the owner's account by a link. */
async function join(stage: Stage, owner: TestDeveloper, role: string): Promise<TestDeveloper> {
  const email = `${role}@roles.example`;
  const invited = await owner.send<{ link: string }>('POST', '/portal/v1/members/invitations', { email, role });
  assert.equal(invited.status, 201, JSON.stringify(invited.body));
  const token = invited.body.link.split('/').at(-1);
  const joined = await send(stage.service, 'POST', '/portal/v1/invitations/accept', { body: { token, password } });
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  return asDeveloper(stage.service, email, password, joined);
}

/** An application with something on every page that a member could change. */
async function furnish(owner: TestDeveloper): Promise<{ id: string; webhookId: string }> {
  const id = await createApplication(owner, 'Shared');
  for (const api of ['sms', 'verify']) assert.equal((await register(owner, id, api, 'free')).status, 201, api);
  const path = `/portal/v1/applications/${id}`;
  assert.equal((await owner.send('POST', `${path}/senders`, { sender: 'ACME', countries: [] })).status, 201);
  const webhook = { url: 'https://8.8.8.8/texts' };
  const added = await owner.send<{ id: string }>('POST', `${path}/webhooks`, webhook);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return { id, webhookId: added.body.id };
}

/** The buttons of the page's content, by the names that they are announced with. */
async function buttonsOf(page: Page, address: string): Promise<string[]> {
  await page.goto(address);
  await page.locator('h1').waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'hidden' });
  await assertSteady(page, address);
  return page.evaluate<string[]>(`[...document.querySelectorAll('main button:not([role=tab])')]
    .map((button) => button.ariaLabel ?? button.textContent.trim())`);
}

/** Signs in another person in the same browser. */
async function become(portal: Portal, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split('=');
  await portal.context.addCookies([{ name, value, url }]);
  await portal.page.goto(`${url}/#/applications`);
  await portal.page.reload();
}

/** Members with each role go through every page: a viewer is offered nothing that changes, a developer all of it. */
export async function walkAsEachRole(stage: Stage): Promise<void> {
  const { url } = stage.service;
  const owner = await signUp(stage.service);
  const { id, webhookId } = await furnish(owner);
  const members = {
    owner,
    developer: await join(stage, owner, 'developer'),
    viewer: await join(stage, owner, 'viewer'),
  };
  const pages = ['', ...[...tabs, `webhooks/${webhookId}`].map((tab) => `/${id}/${tab}`)];
  const portal = await openPortal(stage.browser, url);
  const { page } = portal;
  for (const [role, { cookie }] of Object.entries(members)) {
    await become(portal, url, cookie);
    const found = new Set<string>();
    // Owners find what developers find, and the members.
    for (const path of role === 'owner' ? pages.slice(0, 3) : pages)
      for (const each of await buttonsOf(page, `${url}/#/applications${path}`)) found.add(each);
    const invites = (await buttonsOf(page, `${url}/#/account`)).includes('Invite');
    assert.equal(invites, role === 'owner', `only owners invite: ${role}`);
    if (role === 'viewer') {
      const offered = [...found].filter((each) => !reading.test(each));
      assert.deepEqual(offered, [], 'a viewer is offered nothing that changes');
    } else {
      const expected = role === 'owner' ? changing.slice(0, 7) : changing;
      const missing = expected.filter((each) => !found.has(each));
      assert.deepEqual(missing, [], `a member with the role ${role} is offered what changes`);
    }
  }
  await page.goto(`${url}/#/applications/${id}/overview`);
  await page.getByText('Your role is viewer.').waitFor();
  await assertAccessible(page, 'Overview of a viewer');
  await assertFitsPhone(page, 'Overview of a viewer');
  assert.deepEqual(portal.faults, []);
  await portal.context.close();
}
