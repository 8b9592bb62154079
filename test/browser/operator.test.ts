// run: with pages of operators
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { carrierKey, findCarrier } from '../../src/delivery/carrier/store.ts';
import { hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { fromUuid, newId, uuidOf } from '../../src/platform/ids.ts';
import { reasonCode, statusCode } from '../../src/verify/verification-row.ts';
import { fromBase32 } from '../support/base32.ts';
import { alsoInLong, inShort } from '../support/effort.ts';
import { acceptMessages } from '../support/recording-carrier.ts';
import type { Service } from '../support/service.ts';
import {
  assertAccessible,
  assertFitsPhone,
  assertGood,
  assertSteady,
  createApplication,
  desk,
  factOf,
  openPortal,
  openTab,
  operatorLink,
  type Portal,
  password,
  phone,
  register,
  resize,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';
import { walkAsEachRole } from './role-walk.ts';

const env = {
  HELIOGRAPH_ENV: 'production',
  HELIOGRAPH_SECRET: 'a secret of many characters, for tests only',
  HELIOGRAPH_SENDERS: 'open',
  // No collector is there: stories show the trace all the same.
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
};

let stage: Stage;
let service: Service;
let developer: Portal;
let operator: Portal;
before(async () => {
  stage = await setStage(env);
  ({ service } = stage);
  const { browser } = stage;
  [developer, operator] = await Promise.all([openPortal(browser, service.url), openPortal(browser, service.url)]);
});
after(() => stage.close());

async function setPassword(page: Page): Promise<void> {
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Set password and sign in' }).click();
}

/** Leaves the application and comes back, so that it is read anew. */
async function openAgain(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: 'Waiting Ltd' }).click();
}

/** A message that has waited two minutes for a carrier that is paused. */
async function insertWaiting(page: Page): Promise<void> {
  const { database } = stage;
  const path = `${service.url}/portal/v1/operator/carriers`;
  const settings = { host: '127.0.0.1', port: 9, system_id: 'me', password: 'secret' };
  const data = { name: 'acme', kind: 'smpp', settings };
  assert.equal((await page.request.post(path, { data })).status(), 201);
  assert.equal((await page.request.post(`${path}/acme/pause`)).status(), 200);
  const sinceMs = Date.now() - 2 * minuteMs;
  const clock = { nowMs: () => sinceMs, steadyMs: () => 0 };
  const row = (await findCarrier(database, 'acme')) ?? assert.fail('the carrier is there');
  await acceptMessages({ database, clock, carrier: carrierKey(row) }, 1);
}

/** Holds the counts of equal reasons back until the list has arrived and `release` is called. */
async function withSlowGroups(page: Page, act: (release: () => void) => Promise<void>): Promise<void> {
  const path = '**/operator/deliveries/groups*';
  let [release, listed] = [() => {}, () => {}];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const list = new Promise<void>((resolve) => {
    listed = resolve;
  });
  page.on('requestfinished', (request) => /operator\/deliveries\?/.test(request.url()) && listed());
  await page.route(path, async (route) => {
    await Promise.all([released, list]);
    await route.continue();
  });
  await act(release);
  await page.unroute(path);
}

/** A rule for the paused carrier, another carrier, an alert, and what became of some texts. */
async function insertWrong(page: Page): Promise<void> {
  const { database } = stage;
  const path = `${service.url}/portal/v1/operator`;
  const settings = { host: '127.0.0.1', port: 9, system_id: 'me', password: 'secret' };
  assert.equal(
    (await page.request.post(`${path}/carriers`, { data: { name: 'bell', kind: 'smpp', settings } })).status(),
    201,
  );
  const uk = { name: 'uk', match: { countries: ['GB'] }, carriers: [{ carrier: 'acme' }] };
  const saved = await page.request.put(`${path}/routes`, { data: { version: 0, routes: [uk] } });
  assert.equal(saved.status(), 200, await saved.text());
  const [nowMs, { rows }] = [Date.now(), await database.query<{ id: string }>('select id from application limit 1')];
  const clock = { nowMs: () => nowMs, steadyMs: () => 0 };
  const now = toTimestamp(nowMs);
  // Seen in the future, so that the watch leaves it alone.
  await database.query(
    `insert into alert (id, key, kind, carrier, country, summary, advice, since, seen_at, raised_at)
     values ($1, $1, 'refused', 'acme', 'GB', 'acme refuses 100 % of codes to GB.', 'Move its traffic.', $2, $3, $2)`,
    [newId('alr', clock), now, toTimestamp(nowMs + hourMs)],
  );
  await database.query(
    `insert into carrier_minute (minute, carrier, country, node, revision, took, attempts, refused)
     values (date_bin('1 minute', $1, '2000-01-01Z'), 'acme#1', 'GB', 'x', 1, '{}', 3, 3)`,
    [now],
  );
  const key = [now, uuidOf(rows[0]?.id ?? '')];
  await database.query(
    `insert into total_step (at, minutes, application_id, carrier, country, sender, node, revision, sent, reported, delivered, failed, arrived, code_arrived)
     values (date_bin('5 minutes', $1, '2000-01-01Z'), 5, $2, 'acme#1', 'GB', 'ACME', 'x', 1, 9, 8, 8, 1, '{0,6,0,2}', '{0,6,0,2}')`,
    key,
  );
  await database.query(
    `insert into verification_step (at, minutes, application_id, carrier, country, sender, verifications, approved)
     values (date_bin('5 minutes', $1, '2000-01-01Z'), 5, $2, 'acme#1', 'GB', 'ACME', 4, 3)`,
    key,
  );
}

/** The service requires it: the pages of operators lead to it, and open only then. */
async function setUpSecondFactor(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  await assertGood(page, 'A second factor is required');
  await page.getByRole('link', { name: 'Set up in your account' }).click();
  const factor = page.getByRole('region', { name: 'Second factor' });
  await factor.getByRole('button', { name: 'Set up a second factor' }).click();
  await factor.getByLabel('Your password').fill(password);
  await factor.getByRole('button', { name: 'Continue' }).click();
  const secret = fromBase32((await factor.locator('pre').textContent()) ?? '');
  await factor.getByLabel('Code', { exact: true }).fill(codeOf(secret, stepAt(Date.now())));
  await factor.getByRole('button', { name: 'Turn on' }).click();
  await factor.getByRole('button', { name: 'I saved them' }).click();
}

describe('production', () => {
  const about = 'Waiting Ltd for SMS Messaging';
  let key = '';
  const waiting = () => developer.page;
  const deciding = () => operator.page;

  test('a registration waits, its key is refused, and there is no handset', async () => {
    await signUp(waiting(), 'ada@example.com');
    await createApplication(waiting(), 'Waiting Ltd');
    const dialog = await register(waiting(), 'SMS Messaging');
    key = (await dialog.locator('pre').first().textContent()) ?? '';
    assert.match(key, /^hg_live_/);
    await dialog.getByRole('link', { name: 'Try it in the portal' }).click();
    await waiting().getByText('An operator has not approved this registration yet').waitFor();
    assert.equal(await waiting().getByRole('log').count(), 0);
    await waiting().getByLabel('To', { exact: true }).fill('+447400123456');
    await waiting().getByRole('button', { name: 'Send', exact: true }).click();
    await waiting().getByText('HTTP 409 Conflict').waitFor();
    await assertAccessible(waiting(), 'Try it in production');
    await openTab(waiting(), 'Overview');
    await waiting()
      .getByRole('region', { name: 'SMS Messaging', exact: true })
      .getByText('Waiting for approval')
      .waitFor();
    await alsoInLong(() => assertAccessible(waiting(), 'Overview with a registration that waits'));
  });

  test('an operator gets in by the printed link', async () => {
    const link = await operatorLink(stage, 'boss@example.com');
    await deciding().goto(link);
    const effect = 'This sets a new password for boss@example.com and ends all sessions of this account';
    await deciding().getByText(effect).waitFor();
    await deciding().getByText('It also makes the account an operator').waitFor();
    await assertGood(deciding(), 'Set a new password');
    await setPassword(deciding());
    await deciding().getByRole('heading', { name: 'Your account', level: 1 }).waitFor();
    await deciding().getByRole('link', { name: 'Operations' }).click();
    await setUpSecondFactor(deciding());
    await deciding().getByRole('link', { name: 'Operations' }).click();
    // Operators land on what is wrong now.
    await deciding().getByRole('heading', { name: 'Now', level: 1 }).waitFor();
    await deciding().getByText('The service has no carrier. Add one to send texts.').waitFor();
    await deciding().getByRole('link', { name: 'No alerts. Open Now' }).waitFor();
    await assertGood(deciding(), 'Now, when nothing is wrong');
    await deciding().getByRole('link', { name: 'Health' }).click();
    // The link worked once; the page says so in words of people.
    await waiting().goto(link);
    await waiting().getByText('This link no longer works').waitFor();
    assert.equal(await waiting().getByText(/token/i).count(), 0, 'no name of a field');
    await waiting().goBack();
    await factOf(deciding().getByRole('main'), 'Environment').getByText('production').waitFor();
    await deciding().getByText('No carrier is connected. Every message is refused.').waitFor();
    await assertGood(deciding(), 'System health');
  });

  test('the operator approves, and the same key passes', async () => {
    await deciding().getByRole('link', { name: 'Approvals', exact: true }).click();
    await deciding().getByRole('article', { name: about }).getByText('ada@example.com').waitFor();
    await assertGood(deciding(), 'Pending approvals');
    await deciding()
      .getByRole('button', { name: `Approve ${about}` })
      .click();
    await deciding().getByText('No pending approvals').waitFor();
    const { status } = await fetch(`${service.url}/sms/v1/messages`, { headers: { apikey: key } });
    assert.equal(status, 200);
    await openAgain(waiting());
    await waiting().getByRole('region', { name: 'SMS Messaging', exact: true }).getByText('approved').waitFor();
  });

  test('a higher plan holds only once it is approved', async () => {
    await waiting().getByRole('button', { name: 'Free · Change plan for SMS Messaging' }).click();
    await waiting().getByRole('button', { name: 'Change to Pro for SMS Messaging' }).click();
    await waiting().getByText('Waiting for approval of Pro').waitFor();
    // The page of the operator refreshes by itself.
    await deciding().getByText('Free → Pro').waitFor();
    await deciding()
      .getByRole('button', { name: `Approve ${about}` })
      .click();
    await deciding().getByText('No pending approvals').waitFor();
    await openAgain(waiting());
    await waiting().getByRole('button', { name: 'Pro · Change plan for SMS Messaging' }).waitFor();
  });

  test('a rejection has a reason, which the developer reads', async () => {
    await waiting().getByRole('button', { name: 'Pro · Change plan for SMS Messaging' }).click();
    await waiting().getByRole('button', { name: 'Change to Enterprise for SMS Messaging' }).click();
    await waiting().getByText('Waiting for approval of Enterprise').waitFor();
    await deciding()
      .getByRole('button', { name: `Reject ${about}` })
      .click();
    const dialog = deciding().getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByText(/Enter a reason \(1–500 characters\)/).waitFor();
    await dialog.getByLabel('Reason').fill('Ask us for a contract first.');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await deciding().getByText('No pending approvals').waitFor();
    await openAgain(waiting());
    await waiting().getByText('Ask us for a contract first.').waitFor();
  });

  test('a sender waits for the operator, who approves it', async () => {
    await openTab(waiting(), 'Senders');
    await waiting().getByRole('button', { name: 'Request a sender' }).click();
    await waiting().getByLabel('Sender', { exact: true }).fill('ACME');
    await waiting().getByLabel('Countries').fill('gb');
    await waiting().getByRole('button', { name: 'Request sender' }).click();
    await waiting()
      .getByRole('row', { name: /ACME.*pending/ })
      .waitFor();
    await deciding().getByRole('link', { name: 'Senders' }).click();
    await deciding().getByRole('button', { name: 'Approve ACME' }).click();
    await deciding().getByLabel('Registration').fill('GB-1234');
    await assertAccessible(deciding(), 'Approve a sender');
    await deciding().getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await deciding().getByText('No pending senders').waitFor();
    await waiting()
      .getByRole('row', { name: /ACME.*approved/ })
      .waitFor();
  });

  test('what looks like pumping: the developer reads why, and the operator ends it', async () => {
    const id = /applications\/(app_\w+)/.exec(waiting().url())?.[1] ?? assert.fail('the page of the application');
    const [nowMs, to] = [Date.now(), '+447400123456'];
    const clock = { nowMs: () => nowMs, steadyMs: () => 0 };
    const verification = uuidOf(newId('ver', clock));
    await stage.database.query(
      `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, blocked, began_at, until)
       values ($4, $1, '+44740012****', 'GB', true, 40, 1, 0.26, 312, $2, $3)`,
      [id, toTimestamp(nowMs), toTimestamp(nowMs + 6 * hourMs), newId('hld', clock)],
    );
    const record = `insert into verification (id, application_id, correlation_id, created_at, updated_at, expires_at,
        ring_version, channel, status, reason, code_length, max_attempts, sends, test_number, recipient, text_ids)
      values ($1, $2, $1, $3, $3, $3, 1, 0, $4, $5, 6, 0, 0, false, $6, '{}')`;
    const [blocked, reason] = [statusCode('blocked'), reasonCode('suspected_pumping')];
    await stage.database.query(record, [verification, uuidOf(id), toTimestamp(nowMs), blocked, reason, to]);
    await waiting().goto(`${service.url}/#/applications/${id}/verifications/${fromUuid('ver', verification)}`);
    await waiting().getByText('40 numbers that begin with +44740012 got a code, and 1 entered it.').waitFor();
    await assertAccessible(waiting(), 'A verification that was held back');

    await deciding().getByRole('link', { name: 'SMS pumping' }).click();
    const hold = deciding().getByRole('article', { name: '+44740012… of Waiting Ltd' });
    await factOf(hold, 'Codes entered').getByText('1 of 40 numbers (suspicious below 26 %)').waitFor();
    await factOf(hold, 'Verifications held back').getByText('312').waitFor();
    await assertGood(deciding(), 'What is held back');
    await hold.getByRole('button', { name: 'End hold +44740012…' }).click();
    await deciding().getByRole('dialog').getByRole('button', { name: 'End hold' }).click();
    await deciding().getByText('No active holds').waitFor();
    await deciding().getByText('Ended', { exact: true }).first().click();
    await factOf(hold, 'Ended').getByText('by an operator').waitFor();
  });

  test('sign-ins of everyone; the reset link of an operator is made on the server only', async () => {
    const page = deciding();
    const open = (name: string) =>
      page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name }).click();
    await open('Accounts');
    await page.getByRole('main').getByRole('link', { name: 'boss@example.com' }).first().click();
    await page.getByText('Operator: reset link on the server only').waitFor();
    await assertGood(page, 'The account of an operator');
    await page.getByRole('link', { name: 'Show sign-ins' }).click();
    await page.getByRole('row', { name: /boss@example\.com signed in 127\.0\.0\.1 one-time link/ }).waitFor();
    await assertGood(page, 'Sign-ins');
  });

  test('what looks like pumping: a member sees on the overview what is held and why, and ends one a day', async () => {
    const id = /applications\/(app_\w+)/.exec(waiting().url())?.[1] ?? assert.fail('the page of the application');
    const nowMs = Date.now();
    for (const [place, scope] of ['+44740013****', `address:${'0'.repeat(32)}`].entries())
      await stage.database.query(
        `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, blocked, began_at, until)
         values ($4, $1, $5, 'GB', true, 40, 1, 0.59, 312, $2, $3)`,
        [
          ...[id, toTimestamp(nowMs), toTimestamp(nowMs + 6 * hourMs)],
          ...[newId('hld', { nowMs: () => nowMs + place, steadyMs: () => 0 }), scope],
        ],
      );
    await waiting().goto(`${service.url}/#/applications/${id}/overview`);
    const held = (name: string) => waiting().getByRole('article', { name });
    const [prefix, address] = ['Numbers that begin with +44740013', 'Starts from one address'];
    await held(prefix).getByText('1 of 40 numbers entered their code. Usually at least 59 % do.').waitFor();
    await assertGood(waiting(), 'What is held back of an application');
    await held(address)
      .getByRole('button', { name: `End hold ${address}` })
      .click();
    await waiting().getByRole('dialog').getByRole('button', { name: 'End hold' }).click();
    await held(address).waitFor({ state: 'detached' });
    await held(prefix).getByText('You can end the next hold').waitFor();
    assert.equal(await held(prefix).getByRole('button').count(), 0);
  });

  test('others see no operator pages', async () => {
    await waiting().goto(`${service.url}/#/operator/health`);
    await waiting().getByRole('heading', { name: 'Page not found' }).waitFor();
    assert.equal(await waiting().getByRole('link', { name: 'Operations' }).count(), 0);
    assert.deepEqual([...developer.faults, ...operator.faults], []);
  });

  test('plans: a new version is saved, and the old one stays', async () => {
    const page = deciding();
    await page.getByRole('link', { name: 'Plans', exact: true }).click();
    await page.getByLabel('Free: requests per minute').fill('0');
    await page.getByRole('button', { name: 'Save Free' }).click();
    await page.getByText(/whole number from 1 to 1000000/).waitFor();
    await page.getByLabel('Free: requests per minute').fill('90');
    await page.getByRole('button', { name: 'Save Free' }).click();
    await page.getByRole('row', { name: /^1 90 .*boss@example.com/ }).waitFor();
    await assertGood(page, 'Plans');
  });

  test('queue, traffic, nodes and health', async () => {
    const page = deciding();
    const open = (name: string) =>
      page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name }).click();
    await open('Queue');
    await page.getByText('The queue is empty').waitFor();
    await insertWaiting(page);
    const row = page.getByRole('row', { name: /^acme/ });
    await row.getByRole('link', { name: '1 stuck on acme' }).waitFor();
    await assertGood(page, 'Queue');
    await row.getByRole('link', { name: '1 stuck on acme' }).click();
    await page
      .getByRole('row', { name: /acme, which is paused/ })
      .first()
      .waitFor();
    assert.match(page.url(), /deliveries\?state=stuck&carrier=acme$/);
    await withSlowGroups(page, async (release) => {
      await page.reload();
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
      release();
      await page
        .getByRole('row', { name: /acme, which is paused/ })
        .first()
        .waitFor();
    });
    await assertSteady(page, 'Deliveries');

    await open('Traffic');
    await page.getByRole('img', { name: 'Requests per minute' }).waitFor();
    await assertGood(page, 'Traffic');
    await open('Nodes');
    await page.getByRole('row', { name: /serves this page up .* web and worker/ }).waitFor();
    await assertFitsPhone(page, 'Nodes');
    await open('Health');
    const postgres = page.getByRole('region', { name: 'Postgres' });
    await factOf(postgres, 'State').getByText('ok').waitFor();
    await page.getByText('One node keeps the rate limits in memory.').waitFor();
  });

  test('now: a sentence for what is wrong, with the buttons to act; the alerts are in every top bar', async () => {
    const page = deciding();
    await insertWrong(page);
    const badge = page.getByRole('link', { name: /^\d+ alerts?\. Open Now$/ });
    await badge.waitFor({ timeout: 20_000 });
    await resize(page, phone);
    await badge.click();
    const wrong = page.getByRole('article', { name: 'acme refuses 100 % of codes to GB.' });
    await wrong.getByText('Move its traffic.').waitFor();
    const acme = page.getByRole('article', { name: 'acme', exact: true });
    await acme.getByRole('row', { name: /^GB 0% 3 – – 3 0 0$/ }).waitFor();
    await page.getByText('1 waits', { exact: true }).waitFor();
    await resize(page, desk);
    await assertGood(page, 'Now, when something is wrong');

    await wrong.getByRole('button', { name: 'Move traffic of acme' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('uk: To numbers in GB.').waitFor();
    await dialog.getByRole('region', { name: 'What will change' }).getByText('bell 1').waitFor();
    await dialog.getByText('Texts that already wait for acme stay with it.').waitFor();
    await assertAccessible(page, 'Move traffic');
    await dialog.getByRole('button', { name: 'Move 1 rule to bell' }).click();
    await page.getByText('Traffic of acme moved to bell').waitFor();
    const { routes } = await (await page.request.get(`${service.url}/portal/v1/operator/routes`)).json();
    assert.deepEqual(routes[0].carriers, [{ carrier: 'bell', weight: 1 }]);
    await acme.getByRole('button', { name: 'Move traffic of acme' }).click();
    await dialog.getByText('No rule names acme').waitFor();
    await page.keyboard.press('Escape');
    await acme.getByRole('link', { name: 'Test acme' }).click();
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor();
    assert.equal(await page.evaluate('document.activeElement.type'), 'tel', 'the test is open');

    // Developers have no badge, and send no request for one.
    const asked = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/operator/')).length";
    assert.deepEqual([await waiting().evaluate(asked), await waiting().getByText('Open Now').count()], [0, 0]);
  });

  test('the pages of operators are in groups: a column on a desk, a menu on a phone', async () => {
    const page = deciding();
    const list = page.getByRole('navigation', { name: 'Operations' });
    for (const width of [1440, 390]) {
      await resize(page, { width, height: 900 });
      await page.goto(`${service.url}/#/operator`);
      await page.reload();
      await page.getByRole('article', { name: 'acme', exact: true }).waitFor();
      assert.match(page.url(), /operator\/now$/);
      await assertSteady(page, `Now at ${width}`, 0.05);
      const menu = list.getByRole('button', { name: /Now/ });
      if (width === 390) {
        assert.equal(await list.getByRole('link', { name: 'Health' }).isVisible(), false);
        await menu.click();
      } else assert.equal(await menu.isVisible(), false);
      await list.getByRole('region', { name: 'System' }).getByRole('link', { name: 'Health' }).click();
      await page.getByRole('heading', { name: 'System health' }).waitFor();
      const current =
        width === 390 ? list.getByRole('button', { name: 'System Health' }) : list.locator('[aria-current]');
      await current.waitFor();
      assert.equal(
        await list.getByRole('link', { name: 'Nodes' }).isVisible(),
        width === 1440,
        'another page closes the menu',
      );
    }
    await resize(page, desk);
  });

  test('analytics: pictures over time, for operators by carrier, for developers by country', async () => {
    const page = deciding();
    await page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name: 'Analytics' }).click();
    await page.getByRole('img', { name: 'Delivered share per hour' }).waitFor();
    await page
      .getByRole('row', { name: 'United Kingdom (GB) 10 80% 1 0 1 2 s 5 s 2 s 5 s 75% of 4 (30.1% to 95.4%)' })
      .waitFor();
    await assertGood(page, 'Analytics');
    await page.getByText('Carrier', { exact: true }).first().click();
    await page.getByRole('row', { name: /^acme 10 80%/ }).waitFor();
    await page.getByText('Last hour').click();
    await page.getByRole('img', { name: 'Conversion per 5 minutes' }).waitFor();
    assert.match(page.url(), /analytics\?range=hour&by=carrier$/);
    const { rows } = await stage.database.query<{ id: string }>('select id from application limit 1');
    const id = rows[0]?.id ?? assert.fail('an application');
    await waiting().goto(`${service.url}/#/applications/${id}/delivery`);
    await waiting().getByRole('img', { name: 'Outcomes per hour' }).waitFor();
    await waiting()
      .getByRole('row', { name: /^United Kingdom \(GB\) 10 80%/ })
      .waitFor();
    assert.equal(await waiting().getByText('acme').count(), 0, 'developers learn no carrier');
    await assertGood(waiting(), 'Delivery of an application');
  });

  test('an application is chosen by its name', async () => {
    const page = deciding();
    await page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name: 'Limits' }).click();
    await page.getByRole('combobox', { name: 'Application' }).fill('aiting l');
    await page.getByRole('option', { name: /Waiting Ltd ada@example.com/ }).click();
    await page.getByRole('heading', { name: 'Waiting Ltd', level: 2 }).waitFor();
    await assertGood(page, 'Limits of an application');
    assert.match(page.url(), /limits\/app_/);
  });

  test('a correlation id leads an operator from any page to the story of its request, and the developer to the own one', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const answer = await fetch(`${service.url}/sms/v1/messages`, {
      method: 'POST',
      headers: { apikey: key, 'Content-Type': 'application/json', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
      body: JSON.stringify({ to: 'nonsense', from: 'ACME', message: 'Hello' }),
    });
    const id = answer.headers.get('x-correlation-id') ?? '';
    const page = deciding();
    await page.goto(`${service.url}/#/no/such/page`);
    await page.getByRole('main').getByRole('link', { name: 'Find' }).waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Find' });
    await dialog.getByRole('combobox').fill('smpp');
    await dialog
      .getByRole('option', { name: /Carriers/ })
      .first()
      .waitFor();
    await dialog.getByRole('combobox').fill(`correlation_id: ${id}`);
    await dialog.getByRole('option', { name: /Request.*Waiting Ltd/ }).waitFor();
    await assertGood(page, 'Find');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor();
    await page.getByText('POST /sms/v1/messages').first().waitFor();
    await page.getByText(traceId).waitFor();
    await assertGood(page, 'An opened request');
    await page.goto(`${service.url}/#/find?q=Waiting`);
    await page
      .getByRole('region', { name: 'Applications and accounts' })
      .getByRole('link', { name: /Waiting Ltd/ })
      .waitFor();
    await assertGood(page, 'The page Find');

    await waiting().goto(`${service.url}/#/applications`);
    await waiting().getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    await waiting().keyboard.press('/');
    await waiting().getByRole('dialog', { name: 'Find' }).getByRole('combobox').fill(id);
    await waiting()
      .getByRole('option', { name: /Request/ })
      .click();
    await waiting().getByText('POST /sms/v1/messages').first().waitFor();
    assert.match(waiting().url(), /applications\/app_\w+\/requests\/req_/);
    await page.goto(`${service.url}/#/operator/carriers`);
  });

  test('an operator finds an account, makes a link, disables it, and reads it all in the audit log', async () => {
    const page = deciding();
    await page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name: 'Applications' }).click();
    await page.getByLabel('Name, id, account or email').fill('waiting');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByRole('link', { name: 'Waiting Ltd' }).waitFor();
    await assertGood(page, 'Applications of all accounts');
    await page.getByRole('link', { name: 'ada@example.com' }).click();
    const account = page.getByRole('region', { name: 'ada@example.com' });
    await account.getByRole('button', { name: 'Reset link for ada@example.com' }).click();
    await account.getByText(/#\/set-password\//).waitFor();
    await assertGood(page, 'An account');
    await account.getByRole('button', { name: 'Disable ada@example.com' }).click();
    await page.getByLabel('Reason').fill('The bill is unpaid');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await account.getByText('The bill is unpaid').waitFor();
    const { status } = await fetch(`${service.url}/sms/v1/messages`, { headers: { apikey: key } });
    assert.equal(status, 401);
    // As a restore does it. The page reads it with the change below.
    await stage.database.query('update api_key set suspended_at = now()');
    await account.getByRole('button', { name: 'Enable account' }).click();
    await account.getByRole('button', { name: 'Disable ada@example.com' }).waitFor();
    await account.getByText(/^Suspended API keys and client secrets: \d+$/).waitFor();
    await alsoInLong(() => assertFitsPhone(page, 'An account with suspended credentials'));
    await account.getByRole('button', { name: 'Enable all' }).click();
    await account.getByText(/^Suspended API keys/).waitFor({ state: 'hidden' });
    // Her session ended with it.
    await waiting().goto(`${service.url}/#/account/audit`);
    // The page behind has a field for an email too.
    await waiting().getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await waiting().getByLabel('Email').fill('ada@example.com');
    await waiting().getByLabel('Password', { exact: true }).fill(password);
    await waiting().getByRole('button', { name: 'Sign in' }).click();
    await waiting()
      .getByRole('row', { name: /account\.disabled An operator.*The bill is unpaid/ })
      .waitFor();
    assert.equal(await waiting().getByText('boss@example.com').count(), 0, 'owners do not learn who it was');
    await assertGood(waiting(), 'The audit log of an account');

    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByLabel('Action', { exact: true }).fill('account.disabled');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    const disabled = page.getByRole('row', { name: /account\.disabled boss@example\.com.*The bill is unpaid/ });
    await disabled.waitFor();
    await page.getByLabel('To day', { exact: true }).fill('2020-01-31');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByText('No entries').waitFor();
    await page.getByLabel('To day', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await disabled.waitFor();
    await assertGood(page, 'Audit log');
    assert.deepEqual(operator.faults, []);
  });
});

test('in production, a viewer is offered nothing that changes, and a developer all of it', () =>
  // In short only the pages that differ from those in the sandbox; account.test.ts walks through all of those, as an owner too.
  walkAsEachRole(
    stage,
    inShort(['overview', 'senders', 'try'], undefined),
    inShort(['developer', 'viewer'], undefined),
  ));
