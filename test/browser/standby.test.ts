// run: with pages of operators
// What operators see of several hosts of Postgres: whether a failover loses what was answered, and which host is what.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type PostgresPair, startPair } from '../support/postgres-pair.ts';
import { assertGood, factOf, openPortal, type Portal, type Stage, setStage, signInAsOperator } from './browser.ts';

let pair: PostgresPair;
let stage: Stage;
let operator: Portal;
before(async () => {
  pair = await startPair();
  const secret = 'a secret of many characters, for tests only';
  stage = await setStage({ DATABASE_URL: pair.urlOf(), HELIOGRAPH_SECRET: secret });
  operator = await openPortal(stage.browser, stage.service.url);
  await signInAsOperator(stage, operator.page);
});
after(async () => {
  await stage.close();
  await pair.close();
});

async function readinessOf(name: string): Promise<string | undefined> {
  const answer = await fetch(`${stage.service.url}/readyz`);
  assert.equal(answer.status, 200, 'without a standby a node is ready too');
  const { checks } = (await answer.json()) as { checks: Record<string, string> };
  return checks[name];
}

test('System health and /readyz say whether commits wait for a standby, and which host takes writes', async () => {
  const { page } = operator;
  await page.goto(`${stage.service.url}/#/operator/health`);
  await page.getByRole('heading', { name: 'System health', level: 1 }).waitFor();
  const standby = factOf(page.locator('main'), 'Synchronous standby');
  await standby.getByText('A failover loses nothing that was answered.').waitFor();
  await factOf(page.locator('main'), pair.first.address).getByText('primary, timeline 1').waitFor();
  await factOf(page.locator('main'), pair.second.address).getByText('standby, timeline 1').waitFor();
  await assertGood(page, 'System health with a standby');
  await eventually('readyz says so', async () => (await readinessOf('synchronous_standby')) === 'ok');

  await pair.setSynchronous(false);
  await standby.getByText('A failover may lose the last answers: check the standbys.').waitFor();
  await eventually('readyz says so', async () => (await readinessOf('synchronous_standby')) === 'away');
  await assertGood(page, 'System health without a standby');
  assert.deepEqual(operator.faults, []);
});
