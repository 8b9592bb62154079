// Operators who act on one number at the same time: the application that lost it sends from it no longer (sections 14
// and 15 of the contract).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createNumberService } from '../../src/inbound/number-service.ts';
import { isApplication } from '../../src/registry/registry-store.ts';
import type { TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { type Caller, createProduction, type Production } from '../support/production.ts';

let production: Production;
let app: TestApp;
let one: Caller;
let other: Caller;

before(async () => {
  production = await createProduction();
  app = production.app;
  one = await production.createCaller({ apis: ['sms'] });
  other = await production.createCaller({ apis: ['sms'] });
});
after(() => app.close());

const pathOf = (number: string) => `/portal/v1/operator/numbers/${encodeURIComponent(number)}`;
const give = (number: string, { id }: Caller) =>
  production.operator.send('PUT', pathOf(number), { application_id: id }).then(({ status }) => status);
const sendFrom = (number: string, who: Caller) =>
  who.sms({ to: '+447400123456', from: number }).then(({ status }) => status);
const holderOf = async (number: string) =>
  (await production.operator.send<{ application_id?: string }>('GET', pathOf(number))).body.application_id;

for (const isThere of [false, true]) {
  test(`two give ${isThere ? 'a number that a third holds' : 'a new number'} to different applications`, async () => {
    const number = isThere ? '+447800900171' : '+447800900170';
    if (isThere) assert.equal(await give(number, await production.createCaller({ apis: ['sms'] })), 200);
    let late: Promise<number> | undefined;
    await app.db.database.transaction(async (tx) => {
      await tx.query('select from application where id = $1 for update', [other.id]);
      late = give(number, other);
      await eventually('the late one to wait', async () => {
        const { count } = await app.db.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return count > 0;
      });
      assert.equal(await give(number, one), 200);
      assert.equal(await sendFrom(number, one), 201);
    });
    assert.equal(await late, 200);
    assert.equal(await holderOf(number), other.id);
    assert.deepEqual([await sendFrom(number, one), await sendFrom(number, other)], [400, 201]);
  });
}

/** The acts of an operator on another node. Between its reading and its writing it waits for others. */
function actsAfter(others: () => Promise<unknown>) {
  const { database } = app.db;
  return createNumberService({
    database,
    clock: app.clock,
    isApplication,
    isCarrier: async () => true,
    async change(applicationId, work) {
      await others();
      return app.app.registry.feed.change(applicationId, work);
    },
  });
}

test('one takes a number back while another moves it', async () => {
  const number = '+447800900172';
  assert.equal(await give(number, one), 200);
  const slow = actsAfter(async () => {
    assert.equal(await give(number, other), 200);
    assert.equal(await sendFrom(number, other), 201);
  });
  await slow.remove(number, null, null);
  assert.equal(await holderOf(number), undefined);
  assert.deepEqual([await sendFrom(number, one), await sendFrom(number, other)], [400, 400]);
});

test('two take a number back: the second finds none', async () => {
  const number = '+447800900173';
  assert.equal(await give(number, one), 200);
  const slow = actsAfter(() => production.operator.send('DELETE', pathOf(number)));
  await assert.rejects(slow.remove(number, null, null), { code: 'NOT_FOUND' });
});
