import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { asDeveloper, createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { assertGood, assertSteady, openWindow, type Portal, password, type Stage, signInAs } from './browser.ts';

/** Buttons that read: they search, filter and copy. Everything else changes something. */
const reading = /^(Search|Clear|Find|Show more|Newest|Newer|Older|Copy .*|Try again|Try it)$/;

/** The pages of an application: what a developer finds there that changes something, and a viewer does not. */
const changing = {
  overview: ['Free · Change plan for SMS Messaging', 'Register for Messaging', 'Delete application'],
  credentials: ['Create API key', 'Rotate API keys', 'Create client secret'],
  senders: ['Request a sender', 'Remove ACME'],
  try: ['Send'],
  messages: [],
  inbound: ['Save', 'Add opt-out'],
  verifications: [],
  events: [],
  webhooks: ['Add webhook'],
  webhook: ['Send test', 'Pause', 'Replay a period'],
  integrations: ['Add a server'],
  hook: ['Edit', 'New secret', 'Delete', 'Test'],
  twilio: ['New token', 'Delete'],
  usage: [],
  requests: [],
} satisfies Record<string, string[]>;

type PageName = keyof typeof changing;
const allPages = Object.keys(changing) as PageName[];
/**
 * Owners find what developers find, and the members. In short, developers and viewers visit the pages that have something for
 * developers, and owners one.
 */
const visits = {
  owner: (name: PageName) => name === 'overview' || (name === 'credentials' && inShort(false, true)),
  developer: (name: PageName) => changing[name].length > 0 || inShort(false, true),
  viewer: (name: PageName) => changing[name].length > 0 || inShort(false, true),
};

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
async function furnish(owner: TestDeveloper): Promise<{ id: string; webhookId: string; hookId: string }> {
  const id = await createApplication(owner, 'Shared');
  for (const api of ['sms', 'verify']) assert.equal((await register(owner, id, api, 'free')).status, 201, api);
  const path = `/portal/v1/applications/${id}`;
  assert.equal((await owner.send('POST', `${path}/senders`, { sender: 'ACME', countries: [] })).status, 201);
  const webhook = { url: 'https://8.8.8.8/texts' };
  const added = await owner.send<{ id: string }>('POST', `${path}/webhooks`, webhook);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const hook = await owner.send<{ id: string }>('POST', `${path}/hooks`, { kind: 'logto' });
  assert.equal(hook.status, 201, JSON.stringify(hook.body));
  assert.equal((await owner.send('POST', `${path}/twilio`)).status, 201);
  return { id, webhookId: added.body.id, hookId: hook.body.id };
}

/** The buttons of the page's content, by the names that they are announced with. */
async function buttonsOf(page: Page, address: string, shown: Locator): Promise<string[]> {
  await page.goto(address);
  await shown.waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'hidden' });
  await assertSteady(page, address);
  return page.evaluate<string[]>(`[...document.querySelectorAll('main button')]
    .map((button) => button.ariaLabel ?? button.textContent.trim())`);
}

/** Signs in another person in the same browser. The number makes it another address, which is loaded anew. */
async function become(portal: Portal, url: string, cookie: string, count: number): Promise<void> {
  await signInAs(portal.page, url, cookie);
  await portal.page.goto(`${url}/?${count}#/applications`);
}

export type WalkingRole = keyof typeof visits;
const allRoles: WalkingRole[] = ['owner', 'developer', 'viewer'];

/** Members with each role go through the pages: a viewer is offered nothing that changes, a developer all of it. */
export async function walkAsEachRole(stage: Stage, pages = allPages, roles = allRoles): Promise<void> {
  const { url } = stage.service;
  const owner = await signUp(stage.service);
  const { id, webhookId, hookId } = await furnish(owner);
  const portal = await openWindow(stage.browser, url);
  const { page } = portal;
  for (const [count, role] of roles.entries()) {
    const { cookie } = role === 'owner' ? owner : await join(stage, owner, role);
    await become(portal, url, cookie, count);
    const address = (path: string) => `${url}/?${count}#/${path}`;
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
    const check = async (path: string, shown: Locator, offers: string[]) => {
      const found = await buttonsOf(page, address(path), shown);
      const offered = found.filter((each) => (role === 'viewer' ? !reading.test(each) : offers.includes(each)));
      assert.deepEqual(new Set(offered), new Set(role === 'viewer' ? [] : offers), `what changes on ${path}: ${role}`);
    };
    const region = (title: string) => page.getByRole('region', { name: title });
    /** Pages behind a tab. */
    const records: Partial<Record<PageName, { path: string; shown: Locator }>> = {
      webhook: { path: `webhooks/${webhookId}`, shown: region('Deliveries') },
      hook: { path: `integrations/${hookId}`, shown: region('Last calls') },
      twilio: { path: 'integrations/twilio', shown: region('The lines to change') },
    };
    await check('applications', heading('Applications'), ['Create an application']);
    for (const name of pages.filter(visits[role])) {
      const tab = page.locator(`[data-section=${name}] > *`).first();
      const { [name]: record = { path: name, shown: tab } } = records;
      const { path, shown } = record;
      await check(`applications/${id}/${path}`, shown, changing[name]);
    }
    const invites = (await buttonsOf(page, address('account'), heading('Your account'))).includes('Invite');
    assert.equal(invites, role === 'owner', `only owners invite: ${role}`);
    if (role !== 'viewer') continue;
    await page.goto(address(`applications/${id}/overview`));
    await page.getByText('Your role is viewer.').waitFor();
    await assertGood(page, 'Overview of a viewer');
  }
  assert.deepEqual(portal.faults, []);
  await portal.context.close();
}
