// run: with pages
// SMPP in the portal: a developer makes an account and sees its binds; an operator sees all and ends one.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { connectRaw, type RawClient } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import { eventually } from '../support/eventually.ts';
import {
  assertGood,
  assertSteady,
  openAsOperator,
  openWindow,
  type Portal,
  type Stage,
  setStage,
  signInAs,
} from './browser.ts';

let stage: Stage;
let portal: Portal;
let page: Page;
let port: string;
let client: RawClient;
before(async () => {
  stage = await setStage();
  port = stage.env.HELIOGRAPH_SMPP_PORT ?? '';
  const { url } = stage.service;
  const { id, developer } = await createRegistered(stage.service, ['sms'], 'enterprise');
  portal = await openWindow(stage.browser, url);
  page = portal.page;
  await signInAs(page, url, developer.cookie);
  await page.goto(`${url}/#/applications/${id}/integrations`);
});
after(() => stage.close());

const dialog = () => page.getByRole('dialog');

async function shownValue(name: string): Promise<string> {
  const row = dialog()
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) });
  return (await row.locator('pre').textContent()) ?? '';
}

describe('SMPP accounts', () => {
  test('a developer creates one, and sees the password once', async () => {
    await page.getByRole('link', { name: 'SMPP accounts' }).click();
    await page.getByText('No accounts yet').waitFor();
    await page.getByRole('button', { name: 'Create an account' }).click();
    await dialog().getByLabel('Addresses that it may bind from').fill('10.0.0.0/8');
    await dialog().getByRole('button', { name: 'Create', exact: true }).click();
    await dialog().getByText('wider than /24', { exact: false }).last().waitFor();
    await dialog().getByLabel('Addresses that it may bind from').fill('127.0.0.1');
    await dialog().getByRole('button', { name: 'Create', exact: true }).click();
    await dialog().getByText('It will not be shown again').waitFor();
    const [systemId, password] = [await shownValue('system_id'), await shownValue('Password')];
    assert.equal(await shownValue('Port'), port);
    await assertGood(page, 'A new SMPP password');
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await dialog().waitFor({ state: 'hidden' });
    assert.ok(!(await page.content()).includes(password), 'the password is shown once');
    client = await connectRaw(Number(port));
    assert.equal((await client.bind('bind_transceiver', { systemId, password })).status, 0);
    await client.submit({ destination: 'wrong' });
    await page.getByRole('cell', { name: 'transceiver' }).waitFor();
    await page.getByText('ESME_RINVDSTADR').waitFor();
    await assertGood(page, 'An SMPP account with a bind');
    await assertSteady(page, 'SMPP accounts');
  });

  test('tests the receivers', async () => {
    await page.getByRole('button', { name: 'Send a test receipt' }).click();
    await client.takeReceipt();
    await page.getByText('A receiver acknowledged it').waitFor();
  });

  test('an operator sees the bind and ends it', async () => {
    const operator = await openWindow(stage.browser, stage.service.url);
    await openAsOperator(stage, operator.page, 'binds@example.com');
    await operator.page.goto(`${stage.service.url}/#/operator/smpp-binds`);
    await operator.page.getByRole('cell', { name: 'transceiver' }).waitFor();
    await assertGood(operator.page, 'SMPP binds');
    await operator.page.getByRole('button', { name: 'End' }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await client.take('unbind');
    client.close();
    await operator.page.getByText('No program is bound').waitFor();
    await eventually('the developer sees it too', async () => page.getByText('Not bound.').isVisible());
    assert.deepEqual([...portal.faults, ...operator.faults], []);
  });
});
