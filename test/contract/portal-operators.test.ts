import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

let app: TestApp;
let ada: TestDeveloper;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_ENV: 'production' } });
  ada = await signUp(app);
  operator = await createOperator(app);
});
after(() => app.close());

const waiting = '/portal/v1/operator/registrations';
const planOf = async (key: string) => {
  const { directory, apiKeys } = app.app.registry;
  const registration = (await directory.readKey(apiKeys.hashes(key)))?.application.registrations.sms;
  return Object.entries(app.config.plans).find(([, limits]) => limits === registration?.limits)?.[0];
};

describe('production', () => {
  test('a registration waits for the operator; the key opens nothing until then', async () => {
    const id = await createApplication(ada, 'Waiting Ltd');
    const { status, body } = await register(ada, id, 'sms', 'free');
    assert.equal(status, 201);
    assert.equal(body.status, 'pending');
    const key = body.credential?.api_key ?? '';
    assert.match(key, /^hg_live_/);
    assert.equal(await planOf(key), undefined);

    const list = await operator.send<{ data: Record<string, string>[] }>('GET', `${waiting}?status=pending`);
    assert.equal(list.status, 200);
    const row = list.body.data.find((each) => each.id === body.id);
    assert.equal(row?.application_name, 'Waiting Ltd');
    assert.equal(row?.account_email, ada.email);

    const approved = await operator.send('POST', `${waiting}/${body.id}/approve`);
    assert.equal(approved.status, 200);
    assert.equal(approved.body.status, 'approved');
    assert.equal(await planOf(key), 'free');
    assert.equal((await operator.send('POST', `${waiting}/${body.id}/approve`)).status, 409);
  });

  test('a higher plan: the old one holds until approved', async () => {
    const id = await createApplication(ada);
    const { body } = await register(ada, id, 'sms', 'free');
    const key = body.credential?.api_key ?? '';
    await operator.send('POST', `${waiting}/${body.id}/approve`);
    const asked = await register(ada, id, 'sms', 'pro');
    assert.equal(asked.status, 200);
    assert.equal(asked.body.credential, null);
    assert.deepEqual([asked.body.plan, asked.body.requested_plan, asked.body.status], ['free', 'pro', 'approved']);
    assert.equal(await planOf(key), 'free');
    await operator.send('POST', `${waiting}/${body.id}/approve`);
    assert.equal(await planOf(key), 'pro');
  });

  test('409: the developer asks for another plan than the operator saw', async () => {
    const id = await createApplication(ada);
    const { body } = await register(ada, id, 'sms', 'free');
    const approve = (plan: string) => operator.send('POST', `${waiting}/${body.id}/approve?plan=${plan}`);
    await register(ada, id, 'sms', 'enterprise');
    const refused = await approve('free');
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
    assert.equal((await approve('gold')).status, 400);
    assert.equal((await approve('enterprise')).body.plan, 'enterprise');
  });

  test('a rejected change of plan leaves the old plan; a rejected registration opens nothing and may be asked for again', async () => {
    const id = await createApplication(ada);
    const { body } = await register(ada, id, 'sms', 'free');
    const key = body.credential?.api_key ?? '';
    const reject = (reason?: unknown) => operator.send('POST', `${waiting}/${body.id}/reject`, { reason });
    for (const wrong of [undefined, '', '  ', 'x\u0000', 'x'.repeat(501)])
      assert.equal((await reject(wrong)).status, 400, JSON.stringify(wrong));
    const reason = 'The name belongs to another company';
    const rejected = await reject(reason);
    assert.deepEqual([rejected.body.status, rejected.body.reason], ['rejected', reason]);
    const shown = async () =>
      (await ada.send<{ data: { reason: string | null }[] }>('GET', `/portal/v1/applications/${id}/registrations`)).body
        .data[0]?.reason;
    assert.equal(await shown(), reason, 'the developer reads why');
    assert.equal(await planOf(key), undefined);
    const again = await register(ada, id, 'sms', 'pro');
    assert.deepEqual([again.status, again.body.status, again.body.credential], [200, 'pending', null]);
    await operator.send('POST', `${waiting}/${body.id}/approve`);
    assert.equal(await planOf(key), 'pro');
    await register(ada, id, 'sms', 'enterprise');
    assert.equal(await shown(), null, 'a new request clears it');
    await reject('Ask us by mail');
    assert.equal(await shown(), 'Ask us by mail');
    assert.equal(await planOf(key), 'pro');
  });

  test('404: operator routes are not there for others, signed in or not', async () => {
    for (const [method, url] of [
      ['GET', waiting],
      ['POST', `${waiting}/reg_x/approve`],
      ['POST', `${waiting}/reg_x/reject`],
    ] as const) {
      assert.equal((await ada.send(method, url)).status, 404);
      assert.equal((await send(app, method, url)).status, 404);
    }
    assert.equal((await operator.send('POST', `${waiting}/reg_x/approve`)).status, 404);
    assert.equal((await operator.send('GET', `${waiting}?status=approved`)).status, 400);
  });
});
