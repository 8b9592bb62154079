import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/system-needs.ts';
import { createTestDatabase } from '../support/database.ts';
import { urlOf } from '../support/node-settings.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const password = 'a sentence that only I would think of';

/** For what a busy machine may take its time with. */
const patienceMs = 30_000;

export interface Stage {
  service: Service;
  browser: Browser;
  /** What the service was told, for commands beside it. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** A service on a database of its own, and a browser. */
export async function setStage(env: Record<string, string> = {}): Promise<Stage> {
  await buildService();
  const db = await createTestDatabase();
  const all = { DATABASE_URL: urlOf(db.connection), ...env };
  const service = await startService({ env: all });
  const [browser] = await Promise.all([launch(), service.ready]);
  return {
    service,
    browser,
    env: all,
    async close() {
      await browser.close();
      await endServices();
      await db.drop();
    },
  };
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? '/usr/bin/chromium',
    args: flags,
    timeout: patienceMs * 4,
  });
}

export interface Portal {
  context: BrowserContext;
  page: Page;
  /** What the page threw, and what the content policy kept it from. */
  faults: string[];
}

export async function openPortal(browser: Browser, url: string): Promise<Portal> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  await page.goto(`${url}/`);
  return { context, page, faults };
}

export async function signUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create my account' }).click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

/** The link that is printed on the machine: who opens it becomes an operator. */
export async function operatorLink({ service, env }: Stage, email: string): Promise<string> {
  const { dataDir, url } = service;
  const command = await startService({ dataDir, env, command: ['node', 'scripts/run.mjs', 'operator', email] });
  assert.equal((await command.ended).code, 0, command.output());
  return `${url}/#/set-password/${/set-password\/(\w+)/.exec(command.output())?.[1]}`;
}

export async function signInAsOperator(stage: Stage, page: Page, email = 'boss@example.com'): Promise<void> {
  await page.goto(await operatorLink(stage, email));
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

export async function createApplication(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Create an application' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Registers on the overview; the dialog with the credential stays open. */
export async function register(page: Page, api: string, plan = 'Free'): Promise<Locator> {
  await openTab(page, 'Overview');
  await page.getByRole('button', { name: `Register on ${plan} for ${api}`, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('it will not be shown again').waitFor();
  return dialog;
}

export function openTab(page: Page, name: string): Promise<void> {
  return page.getByRole('tab', { name, exact: true }).click();
}

/** What a list of names and values says for a name, within a part of the page. */
export function factOf(part: Locator, name: string): Locator {
  return part
    .locator('dl > div')
    .filter({ has: part.page().getByText(name, { exact: true }) })
    .locator('dd');
}

export async function waitForText(locator: Locator, text: string): Promise<void> {
  await locator.filter({ hasText: new RegExp(`^\\s*${text}\\s*$`) }).waitFor();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  violations: { id: string; impact: string; nodes: { html: string }[] }[];
}

/** What axe looks at. In the dark only colours differ. */
const rulesIn = {
  light: "{ resultTypes: ['violations'] }",
  dark: "{ resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] }",
};

/** Nothing that axe calls serious or critical is on the page, in light or in dark. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource);
    const results = await page.evaluate<AxeResults>(`axe.run(document, ${rulesIn[colorScheme]})`);
    const serious = results.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    assert.deepEqual(serious, [], `${name}, ${colorScheme}`);
  }
}

/** Nothing on the page is wider than a phone. */
export async function assertFitsPhone(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  const tooWide = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.ok(tooWide <= 0, `${name} is ${tooWide} px wider than a phone`);
  await page.setViewportSize({ width: 1280, height: 900 });
}
