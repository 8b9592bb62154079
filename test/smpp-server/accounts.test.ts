import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connectRaw } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import { createApplication, register, signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createProduction } from '../support/production.ts';
import {
  type AccountBody,
  accountsPath,
  bound,
  createSmppCaller,
  createSmppWorld,
  credentialsOf,
  type SmppWorld,
} from './world.ts';

describe('SMPP accounts in the portal', () => {
  let world: SmppWorld;
  let operator: TestDeveloper;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held' });
    operator = await createOperator(world.app);
  });
  after(() => world.close());

  test('201: the password is shown once, and stored as a hash', async () => {
    const { developer, id } = await createRegistered(world.app, ['sms']);
    const made = await developer.send<AccountBody>('POST', accountsPath({ id }), { addresses: ['203.0.113.0/28'] });
    assert.equal(made.status, 201);
    const { body } = made;
    assert.match(body.system_id, /^hg[0-9a-z]{13}$/);
    assert.match(body.password, /^[0-9A-Za-z]{8}$/);
    assert.deepEqual([body.binds, body.addresses, body.passwords.length, body.bound], [2, ['203.0.113.0/28'], 1, []]);
    assert.deepEqual(body.settings, { host: '127.0.0.1', port: 0, tls_port: null, version: '3.4' });
    assert.equal(made.headers.get('location'), `${accountsPath({ id })}/${body.id}`);
    const { rows } = await world.app.db.database.query<{ text: string }>(
      `select (select json_agg(a)::text from smpp_account a) || (select json_agg(p)::text from smpp_password p) as text`,
    );
    assert.ok(!rows[0]?.text.includes(body.password));
    const read = await developer.send<AccountBody>('GET', `${accountsPath({ id })}/${body.id}`);
    assert.deepEqual([read.status, read.body.password], [200, undefined]);
    const list = await developer.send<{ data: AccountBody[] }>('GET', accountsPath({ id }));
    assert.deepEqual(list.body.data, [read.body]);
  });

  test('400: names the field and what would be right', async () => {
    const { developer, id } = await createRegistered(world.app, ['sms']);
    for (const [body, field] of [
      [{ binds: 0 }, 'binds'],
      [{ binds: 51 }, 'binds'],
      [{ binds: '2' }, 'binds'],
      [{ addresses: 'x' }, 'addresses'],
      [{ addresses: ['203.0.113.0/23'] }, 'addresses.0'],
      [{ addresses: ['203.0.113.1', '::/0'] }, 'addresses.1'],
    ] as const) {
      const { status, body: refused } = await developer.send<{ details: { field: string; message: string }[] }>(
        'POST',
        accountsPath({ id }),
        body,
      );
      assert.deepEqual([status, refused.details.map((each) => each.field)], [400, [field]], JSON.stringify(body));
    }
  });

  test('404: another account’s application and account', async () => {
    const { account, id } = world.caller;
    const stranger = await signUp(world.app);
    for (const [method, path] of [
      ['GET', accountsPath({ id })],
      ['POST', accountsPath({ id })],
      ['GET', `${accountsPath({ id })}/${account.id}`],
      ['DELETE', `${accountsPath({ id })}/${account.id}`],
      ['POST', `${accountsPath({ id })}/${account.id}/passwords`],
      ['POST', `${accountsPath({ id })}/${account.id}/test`],
    ] as const)
      assert.equal(
        (await stranger.send(method, path, method === 'POST' ? {} : undefined)).status,
        404,
        `${method} ${path}`,
      );
    const other = await createSmppCaller(world.app);
    const mixed = `${accountsPath(other)}/${account.id}`;
    assert.equal((await other.developer.send('GET', mixed)).status, 404);
    assert.equal((await other.developer.send('DELETE', mixed)).status, 404);
  });

  test('409: twenty accounts, five passwords', async () => {
    const { developer, id } = await createRegistered(world.app, ['sms']);
    const made = [];
    for (let count = 0; count < 20; count++)
      made.push((await developer.send<AccountBody>('POST', accountsPath({ id }), {})).body.id);
    assert.equal((await developer.send('POST', accountsPath({ id }), {})).status, 409);
    const passwords = `${accountsPath({ id })}/${made[0]}/passwords`;
    const statuses = [];
    for (let count = 0; count < 5; count++)
      statuses.push((await developer.send('POST', passwords, { overlap_seconds: 60 })).status);
    assert.deepEqual(statuses, [201, 201, 201, 201, 409]);
  });

  test('409: an application that is not registered for SMS Messaging', async () => {
    const { developer, id } = await createRegistered(world.app, ['verify']);
    const refused = await developer.send<{ code: string; message: string }>('POST', accountsPath({ id }), {});
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
    assert.match(refused.body.message, /Register it for SMS Messaging first/);
    assert.deepEqual((await developer.send<{ data: unknown[] }>('GET', accountsPath({ id }))).body.data, []);
    assert.equal((await register(developer, id, 'sms', 'free')).status, 201);
    assert.equal((await developer.send('POST', accountsPath({ id }), {})).status, 201);
  });

  test('an application that is no longer registered for SMS Messaging cannot bind', async () => {
    const caller = await createSmppCaller(world.app);
    const path = `/portal/v1/applications/${caller.id}/registrations/sms`;
    assert.equal((await caller.developer.send('DELETE', path)).status, 204);
    const client = await connectRaw(world.port);
    assert.equal((await client.bind('bind_transceiver', credentialsOf(caller))).status, 0x0e);
  });

  test('operators see all binds and can end one', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller, 'bind_receiver');
    const path = '/portal/v1/operator/smpp-binds';
    interface Shown {
      id: string;
      system_id: string;
      application_id: string;
      mode: string;
      limit: number;
    }
    const { body } = await operator.send<{ data: Shown[] }>('GET', path);
    const [newest] = body.data;
    assert.deepEqual(
      [newest?.system_id, newest?.application_id, newest?.mode, newest?.limit],
      [caller.account.system_id, caller.id, 'receiver', 2],
    );
    assert.equal((await caller.developer.send('GET', path)).status, 404, 'only operators');
    assert.equal((await operator.send('POST', `${path}/${newest?.id}/end`)).status, 204);
    await client.take('unbind');
    client.close();
    await eventually('it is gone', async () => {
      const now = await operator.send<{ data: Shown[] }>('GET', path);
      return !now.body.data.some(({ id }) => id === newest?.id);
    });
    assert.equal((await operator.send('POST', `${path}/bnd_01jcq000000000000000000000/end`)).status, 404);
  });
});

test('409 in production until an operator has approved the registration', async () => {
  const { app, operator } = await createProduction();
  try {
    const developer = await signUp(app);
    const id = await createApplication(developer);
    const { body: asked } = await register(developer, id, 'sms', 'free');
    const refused = await developer.send<{ message: string }>('POST', accountsPath({ id }), {});
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /SMS Messaging is not approved/);
    assert.equal(
      (await operator.send('POST', `/portal/v1/operator/registrations/${asked.id}/approve`, {})).status,
      200,
    );
    assert.equal((await developer.send('POST', accountsPath({ id }), {})).status, 201);
  } finally {
    await app.close();
  }
});
