import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Service } from '../support/service.ts';
import {
  assertAccessible,
  assertFitsPhone,
  createApplication,
  factOf,
  openPortal,
  openTab,
  operatorLink,
  type Portal,
  password,
  register,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';

const env = {
  HELIOGRAPH_ENV: 'production',
  HELIOGRAPH_SECRET: 'a secret of many characters, for tests only',
  HELIOGRAPH_SENDERS: 'open',
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
    await waiting().getByText('HTTP 401 Unauthorized').waitFor();
    await assertAccessible(waiting(), 'Try it in production');
    await openTab(waiting(), 'Overview');
    await waiting().getByText('Waiting for an operator').waitFor();
    await assertAccessible(waiting(), 'Overview with a registration that waits');
  });

  test('an operator gets in by the printed link', async () => {
    await deciding().goto(await operatorLink(stage, 'boss@example.com'));
    await assertAccessible(deciding(), 'Set a new password');
    await deciding().getByLabel('New password', { exact: true }).fill(password);
    await deciding().getByRole('button', { name: 'Set the password and sign in' }).click();
    await deciding().getByRole('link', { name: 'Operations' }).click();
    await deciding().getByText('Every text is refused until you add one.').waitFor();
    await deciding().getByRole('link', { name: 'Health' }).click();
    await factOf(deciding().getByRole('main'), 'Environment').getByText('production').waitFor();
    await deciding().getByText('No carrier is connected. Every text is refused.').waitFor();
    await assertAccessible(deciding(), 'System health');
    await assertFitsPhone(deciding(), 'System health');
  });

  test('the operator approves, and the same key passes', async () => {
    await deciding().getByRole('link', { name: 'Registrations', exact: true }).click();
    await deciding().getByRole('article', { name: about }).getByText('ada@example.com').waitFor();
    await assertAccessible(deciding(), 'Pending registrations');
    await assertFitsPhone(deciding(), 'Pending registrations');
    await deciding()
      .getByRole('button', { name: `Approve ${about}` })
      .click();
    await deciding().getByText('No pending registrations').waitFor();
    const { status } = await fetch(`${service.url}/sms/v1/messages`, { headers: { apikey: key } });
    assert.equal(status, 200);
    await waiting().reload();
    await waiting().getByRole('region', { name: 'SMS Messaging', exact: true }).getByText('approved').waitFor();
  });

  test('a higher plan holds only once it is approved', async () => {
    await waiting().getByRole('button', { name: 'Change to Pro for SMS Messaging' }).click();
    await waiting().getByText('until an operator approves Pro').waitFor();
    await deciding().reload();
    await deciding().getByText('Free → Pro').waitFor();
    await deciding()
      .getByRole('button', { name: `Approve ${about}` })
      .click();
    await deciding().getByText('No pending registrations').waitFor();
    await waiting().reload();
    const pro = waiting().getByRole('heading', { name: 'Pro' }).first().locator('..');
    await pro.getByText('Your plan').waitFor();
  });

  test('a sender waits for the operator, who approves it', async () => {
    await openTab(waiting(), 'Senders');
    await waiting().getByRole('button', { name: 'Ask for a sender' }).click();
    await waiting().getByLabel('Sender', { exact: true }).fill('ACME');
    await waiting().getByLabel('Countries').fill('gb');
    await waiting().getByRole('button', { name: 'Ask for it' }).click();
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

  test('others see no operator pages', async () => {
    await waiting().goto(`${service.url}/#/operator/health`);
    await waiting().getByRole('heading', { name: 'Page not found' }).waitFor();
    assert.equal(await waiting().getByRole('link', { name: 'Operations' }).count(), 0);
    assert.deepEqual([...developer.faults, ...operator.faults], []);
  });
});
