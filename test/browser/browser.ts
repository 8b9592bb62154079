import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Locator, type Page } from 'playwright-core';
import { addCpuSeconds } from '../../scripts/report-cpu.ts';
import { atEnd } from '../../scripts/shared-by-files.ts';
import { findChromium } from '../../scripts/system-needs.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { urlOf } from '../support/node-settings.ts';
import { freePort } from '../support/process.ts';
import { buildService, endService, program, type Service, startService } from '../support/service.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page lives for seconds: to optimise its code, and to draw in a process apart, costs more than it saves.
  '--js-flags=--no-opt --no-maglev --max-lazy',
  '--in-process-gpu',
];

export const password = 'a sentence that only I would think of';

/** For what a busy machine may take its time with. */
const patienceMs = 60_000;

export interface Stage {
  service: Service;
  browser: Browser;
  /** Past the service, for what would take days to happen. */
  database: Database;
  /** The settings of the service, for commands beside it. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/**
 * A service on a database of its own, and a browser. Files that run in one process share the browser, and those without
 * settings the service too, which has a port for SMPP.
 */
export async function setStage(env?: Record<string, string>): Promise<Stage> {
  if (env !== undefined) return openStage(env);
  shared ??= openShared();
  return shared;
}

async function openShared(): Promise<Stage> {
  const stage = await openStage({ HELIOGRAPH_SMPP_PORT: String(await freePort()) });
  atEnd(stage.close);
  return { ...stage, close: () => closePages(stage.browser) };
}

let shared: Promise<Stage> | undefined;
let sharedBrowser: Promise<Browser> | undefined;

async function openStage(env: Record<string, string>): Promise<Stage> {
  await buildService();
  const db = await createTestDatabase();
  const all = { DATABASE_URL: urlOf(db.connection), ...env };
  const service = await startService({ env: all });
  const [browser] = await Promise.all([openBrowser(), service.ready]);
  return {
    service,
    browser,
    database: db.database,
    env: all,
    async close() {
      await closePages(browser);
      await endService(service);
      await db.drop();
    },
  };
}

function openBrowser(): Promise<Browser> {
  sharedBrowser ??= launch().then((browser) => {
    atEnd(async () => {
      await closePages(browser);
      await browser.close();
    });
    return browser;
  });
  return sharedBrowser;
}

/** The pages of a file that has ended would ask the service for news until the last file ends. */
async function closePages(browser: Browser): Promise<void> {
  await addCpu(browser);
  await Promise.all(browser.contexts().map((context) => context.close()));
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? '/usr/bin/chromium',
    args: flags,
    // Scrollbars take room, as in the browsers of most people.
    ignoreDefaultArgs: ['--hide-scrollbars'],
    timeout: patienceMs * 4,
  });
}

/** CPU seconds already added, by process of the browser. */
const addedSeconds = new Map<number, number>();

/** Its pages run in processes that the test runner does not see. */
async function addCpu(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  for (const { id, cpuTime } of processInfo.filter(({ type }) => type !== 'browser')) {
    addCpuSeconds(cpuTime - (addedSeconds.get(id) ?? 0));
    addedSeconds.set(id, cpuTime);
  }
}

/** The windows that every page has to fit. */
export const desk = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };

export interface Portal {
  context: BrowserContext;
  page: Page;
  /** What the page threw, and what the content policy kept it from. */
  faults: string[];
  /** Every error in the console, such as a request that failed. */
  errors: string[];
}

/** `pictureScale` is the number of pixels for each CSS pixel. With it the pages are drawn, for pictures. */
export async function openPortal(browser: Browser, url: string, pictureScale?: number): Promise<Portal> {
  const portal = await openWindow(browser, url, pictureScale);
  await portal.page.goto(`${url}/`);
  return portal;
}

/** A portal that has loaded nothing yet. */
export async function openWindow(browser: Browser, url: string, pictureScale?: number): Promise<Portal> {
  const deviceScaleFactor = pictureScale ?? 1;
  const context = await browser.newContext({ viewport: desk, deviceScaleFactor, reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  context.setDefaultTimeout(patienceMs);
  await context.addInitScript(countShifts);
  const page = await context.newPage();
  if (pictureScale === undefined) await drawLittle(page);
  const faults: string[] = [];
  const errors: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  return { context, page, faults, errors };
}

const sessionOf = new WeakMap<Page, CDPSession>();

/** Its layout has the whole window, and one pixel of it is drawn: to draw takes a sixth of the browser's CPU. */
async function drawLittle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  sessionOf.set(page, session);
  // A page that is loaded may get another process, which knows nothing of it.
  page.on('domcontentloaded', () => void showPixel(session).catch(() => {}));
  await showPixel(session);
}

async function showPixel(session: CDPSession): Promise<void> {
  await session.send('Emulation.setVisibleSize', { width: 1, height: 1 });
}

/** Where the drawn part has to stay as small as it was. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  const session = sessionOf.get(page);
  if (session !== undefined) await showPixel(session);
}

/**
 * Goes to a page as a link does: `goto` would load the whole portal anew, which costs a second of CPU. What moves
 * meanwhile is no jump, as after a click.
 */
export async function follow(page: Page, path: string, shown: Locator): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await shown.waitFor();
  await forgetShifts(page);
}

export async function signUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

/** The link that is printed on the machine: who opens it becomes an operator. */
export async function operatorLink({ service, env }: Stage, email: string): Promise<string> {
  const { dataDir } = service;
  const command = await startService({ dataDir, env, command: ['node', program, 'operator', email] });
  assert.equal((await command.ended).code, 0, command.output());
  return /http\S+\/#\/set-password\/\w+/.exec(command.output())?.[0] ?? assert.fail(command.output());
}

/** Signs in by the printed link. A test of something else uses `openAsOperator`, which costs less. */
export async function signInAsOperator(stage: Stage, page: Page, email = 'boss@example.com'): Promise<void> {
  await page.goto(await operatorLink(stage, email));
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Set password and sign in' }).click();
  await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

/** As one who has used the link and signed in before. */
export async function openAsOperator(stage: Stage, page: Page, email: string): Promise<void> {
  const { url } = stage.service;
  const body = { email, password };
  const { status, headers } = await send({ url }, 'POST', '/portal/v1/accounts', { body });
  assert.equal(status, 201);
  await stage.database.query('update person set operator = true where email = $1', [email]);
  await signInAs(page, url, headers.getSetCookie()[0] ?? '');
  await page.goto(`${url}/#/applications`);
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

/** Gives the browser the session of a person who signed in elsewhere. */
export async function signInAs(page: Page, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split(';')[0]?.split('=') ?? [];
  await page.context().addCookies([{ name, value, url }]);
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
  await page.getByRole('button', { name: `Register for ${api}`, exact: true }).click();
  await page.getByRole('button', { name: `Register on ${plan} for ${api}`, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('it will not be shown again').waitFor();
  return dialog;
}

export function openTab(page: Page, name: string): Promise<void> {
  return page
    .getByRole('navigation', { name: 'Application sections' })
    .getByRole('link', { name, exact: true })
    .click();
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

/** These two check every element, at a great cost, and find what is minor or of the frame of all pages. */
const rules = { region: { enabled: false }, 'aria-allowed-role': { enabled: false } };
/** No rule of ours needs style sheets loaded again, and a violation is reported with its HTML. */
const axeOptions = { resultTypes: ['violations'], preload: false, selectors: false, rules };
/** So a text beside a pseudo-element is judged too. Else axe searches for them, at twice the cost, to leave it undecided. */
const axeChecks = [{ id: 'color-contrast', options: { ignorePseudo: true } }];
const onlyOnPhones = ['scrollable-region-focusable', 'button-name', 'link-name', 'label', 'aria-hidden-focus'];
/** On a phone parts of a page are hidden, or scroll. */
const optionsOnPhone = inShort<object>({ ...axeOptions, runOnly: onlyOnPhones }, axeOptions);
/** These compare the colours of each text and its background. */
const colourRules = ['color-contrast', 'link-in-text-block'];
/** In the dark only colours differ. In short no page that is checked there is checked in the light too. */
const optionsInTheDark = inShort<object>(axeOptions, { ...axeOptions, runOnly: colourRules });

/**
 * In short, of six pages one is checked by axe in the dark, one in the light, and one on a phone; the others by the keyboard
 * and their width only. Pages share their colours and parts.
 */
const everyNth = inShort(6, 1);
const checks = { desk: 0, windows: 0, phone: 0 };

/** Nothing that axe calls moderate or worse is on the page, in light or in dark. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  const turn = checks.desk++ % everyNth;
  if (turn === 0) await assertNoFaults(page, name, 'dark', optionsInTheDark);
  if (turn === Math.floor(everyNth / 2)) await assertNoFaults(page, name, 'light', axeOptions);
  if (turn === 0) await setColours(page, 'light');
}

async function assertNoFaults(page: Page, name: string, colorScheme: 'light' | 'dark', options: object): Promise<void> {
  await setColours(page, colorScheme);
  await loadAxe(page);
  assert.deepEqual(await faultsOf(page, options), [], `${name}, ${colorScheme}`);
}

/** To say again what holds already makes the page compute all styles anew. */
async function setColours(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  const shown = await page.evaluate<string>('document.documentElement.dataset.mantineColorScheme');
  if (shown === colorScheme) return;
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate("typeof axe !== 'undefined'")) return;
  await page.evaluate(`${axeSource}; axe.configure(${JSON.stringify({ checks: axeChecks })})`);
}

async function faultsOf(page: Page, options: object): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/**
 * How far the parts of a page jump by themselves: the cumulative layout shift of web vitals, so the largest sum of jumps
 * with less than a second between them, within five seconds. What follows a click within half a second is no jump, nor
 * what follows the answer to an act, however long a busy machine takes for it.
 */
const countShifts = `
  window.shifts = { most: 0, sum: 0, fromMs: 0, lastMs: -Infinity, parts: [] };
  const { fetch } = window;
  let [acts, answeredMs] = [0, -Infinity];
  const done = () => {
    acts--;
    answeredMs = performance.now();
  };
  window.fetch = async (resource, options) => {
    if ((options?.method ?? 'GET') === 'GET') return fetch.call(window, resource, options);
    acts++;
    try {
      return await fetch.call(window, resource, options);
    } finally {
      setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 1000);
    }
  };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, startTime, sources } of list.getEntries()) {
      if (hadRecentInput || acts > 0 || startTime < answeredMs) continue;
      const { shifts } = window;
      const isNew = startTime - shifts.lastMs >= 1000 || startTime - shifts.fromMs >= 5000;
      if (isNew) Object.assign(shifts, { sum: 0, fromMs: startTime });
      shifts.sum += value;
      shifts.lastMs = startTime;
      shifts.most = Math.max(shifts.most, shifts.sum);
      shifts.parts.push(...sources.map(({ node }) => String(node?.outerHTML ?? node?.nodeName).slice(0, 120)));
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;
const mostShift = 0.05;

const takeShifts = `(() => {
  const { most, parts } = window.shifts;
  Object.assign(window.shifts, { most: 0, sum: 0, parts: [] });
  return { most, parts };
})()`;

/** Nothing on the page has jumped since it was loaded, or since the last call. */
export async function assertSteady(page: Page, name: string, most = mostShift): Promise<void> {
  const { most: shift, parts } = await page.evaluate<{ most: number; parts: string[] }>(takeShifts);
  assert.ok(shift <= most, `${name} jumps by ${shift.toFixed(3)}: ${parts.join(' ')}`);
}

/** After something was opened whose code has to be loaded first: that it moves the rest is no jump. */
export async function forgetShifts(page: Page): Promise<void> {
  await page.evaluate(takeShifts);
}

/** Everything that must hold for each page. */
export async function assertGood(page: Page, name: string): Promise<void> {
  await assertAccessible(page, name);
  await assertFitsPhone(page, name);
}

/** Nothing on the page jumps or is wider than its window, on a desk and on a phone; there axe finds nothing either. */
export async function assertFitsPhone(page: Page, name: string): Promise<void> {
  await assertSteady(page, name);
  await assertFitsWindows(page, name);
}

/** In short, every second page is laid out for a phone. */
export async function assertFitsWindows(page: Page, name: string): Promise<void> {
  await assertByKeyboard(page, name);
  await assertNoWider(page, name);
  if (checks.windows++ % inShort(2, 1) > 0) return;
  await resize(page, phone);
  await assertNoWider(page, `${name}, on a phone,`);
  if (checks.phone++ % inShort(3, 1) === 0) {
    await loadAxe(page);
    assert.deepEqual(await faultsOf(page, optionsOnPhone), [], `${name}, on a phone`);
  }
  await resize(page, desk);
}

/**
 * Finds what can be clicked and cannot be reached by Tab. React keeps an element's handlers beside it. Of a group such as tabs
 * one element is reached by Tab and the others by arrows. A click beside a dialog does what Escape does, and the library of charts
 * listens everywhere in a chart. What holds links or a text field listens to their clicks. Options are chosen in their text field.
 */
const findUnreachable = `
  (() => {
    const groups = '[role=tablist], [role=radiogroup], [role=listbox], [role=menu]';
    const isReached = (element) => element.tabIndex >= 0 && !element.disabled;
    const handlersOf = (element) => element[Object.keys(element).find((key) => key.startsWith('__reactProps$'))] ?? {};
    const isClicked = (element) =>
      element.matches('a[href], button, input, select, textarea, summary') || handlersOf(element).onClick !== undefined;
    const isFine = (element) =>
      isReached(element) ||
      element.disabled ||
      element.closest('label, a[href], button, summary') !== null && isReached(element.closest('label, a[href], button, summary')) ||
      element.closest('label')?.control != null ||
      [...element.closest(groups)?.querySelectorAll('*') ?? []].some(isReached) ||
      [...element.querySelectorAll('a[href], input')].some(isReached) ||
      element.matches('[role=option]') && isReached(document.querySelector('[role=combobox][aria-controls]') ?? document.body) ||
      element.matches('[class*=-overlay], [class*=-inner], dialog, .recharts-wrapper, .recharts-wrapper *, [aria-hidden=true] *, [aria-hidden=true], [inert] *');
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.checkVisibility() && isClicked(element) && !isFine(element))
      .map(({ outerHTML }) => outerHTML.slice(0, 160));
  })()
`;

/** Whatever can be clicked can be reached by Tab. */
async function assertByKeyboard(page: Page, name: string): Promise<void> {
  assert.deepEqual(await page.evaluate<string[]>(findUnreachable), [], `${name}: out of reach of the keyboard`);
}

async function assertNoWider(page: Page, name: string): Promise<void> {
  const tooWide = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.ok(tooWide <= 0, `${name} is ${tooWide} px wider than its window`);
}
