import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { tlvTags } from '../../src/smpp/pdu.ts';
import { newBind } from '../../src/smpp-server/bind.ts';
import { createBinds } from '../../src/smpp-server/binds.ts';
import { connectRaw } from '../smpp/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import {
  accountsPath,
  bound,
  createAccount,
  createSmppCaller,
  createSmppWorld,
  credentialsOf,
  readAccount,
  type SmppWorld,
} from './world.ts';

describe('binds', () => {
  let world: SmppWorld;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held', env: { HELIOGRAPH_PASSWORD_PER_MINUTE: '1000000' } });
  });
  after(() => world.close());

  test('each kind of bind is admitted and answered as 3.4', async () => {
    const caller = await createSmppCaller(world.app, 'free', { binds: 3 });
    for (const command of ['bind_receiver', 'bind_transmitter', 'bind_transceiver'] as const) {
      const client = await connectRaw(world.port);
      const answer = await client.bind(command, credentialsOf(caller));
      assert.equal(answer.status, 0);
      assert.deepEqual(answer.tlvs, [{ tag: tlvTags.interfaceVersion, value: Buffer.of(0x34) }]);
    }
    const { bound: binds } = await readAccount(caller);
    assert.deepEqual(
      binds.map(({ mode }) => mode),
      ['receiver', 'transmitter', 'transceiver'],
    );
  });

  test('5.0 is answered as 3.4', async () => {
    const client = await connectRaw(world.port);
    const { systemId, password } = credentialsOf(await createSmppCaller(world.app));
    const who = { systemId, password, systemType: 'X', interfaceVersion: 0x50, addressTon: 1, addressNpi: 1 };
    client.send({ command: 'bind_transceiver', status: 0, sequence: 7, ...who, addressRange: '' });
    const answer = await client.take('bind_transceiver_resp');
    assert.deepEqual([answer.status, answer.sequence], [0, 7]);
    assert.deepEqual(answer.tlvs[0]?.value, Buffer.of(0x34));
  });

  test('3.3 is admitted, and its answer has no TLV, which that version does not know', async () => {
    const client = await connectRaw(world.port);
    const { systemId, password } = credentialsOf(await createSmppCaller(world.app));
    const who = { systemId, password, systemType: '', interfaceVersion: 0x33, addressTon: 0, addressNpi: 0 };
    client.send({ command: 'bind_transceiver', status: 0, sequence: 7, ...who, addressRange: '' });
    const { status, tlvs } = await client.take('bind_transceiver_resp');
    assert.deepEqual([status, tlvs], [0, []]);
  });

  test('wrong credentials are 0x0E, and the connection ends', async () => {
    const { account } = world.caller;
    const swapped = account.password.startsWith('a') ? 'b' : 'a';
    for (const given of [
      { systemId: account.system_id, password: swapped + account.password.slice(1) },
      { systemId: 'nobody', password: 'secret' },
      { systemId: '', password: '' },
    ]) {
      const client = await connectRaw(world.port);
      assert.equal((await client.bind('bind_transceiver', given)).status, 0x0e);
      await client.closed();
    }
  });

  test('a second bind on a connection is 0x05, and the first goes on', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    assert.equal((await client.bind('bind_transceiver', credentialsOf(caller))).status, 0x05);
    assert.equal((await client.submit()).status, 0);
  });

  test('a bind above the number of the account is 0x0D; one that ended makes room', async () => {
    const caller = await createSmppCaller(world.app, 'free', { binds: 1 });
    const first = await bound(world, caller);
    const second = await connectRaw(world.port);
    assert.equal((await second.bind('bind_transceiver', credentialsOf(caller))).status, 0x0d);
    await eventually('the refusal is shown', async () => (await readAccount(caller)).problems.length > 0);
    const [problem] = (await readAccount(caller)).problems;
    assert.deepEqual([problem?.command, problem?.status_name], ['bind', 'ESME_RBINDFAIL']);
    first.close();
    await eventually('the first bind is gone', async () => (await readAccount(caller)).bound.length === 0);
    await bound(world, caller);
  });

  test('a bind whose commit was not answered takes no place of its account', async () => {
    const { account, id: applicationId } = await createSmppCaller(world.app);
    const { database } = world.app.db;
    const lost = new Error('Connection terminated during commit');
    let isLost = false;
    const binds = createBinds({
      clock: world.app.clock,
      log: createTestLog().log,
      onEnd() {},
      isDead: () => false,
      database: {
        ...database,
        transaction: async (work) => {
          const result = await database.transaction(work);
          if (isLost) throw lost;
          return result;
        },
      },
    });
    const { id, system_id: systemId, addresses } = account;
    const known = { id, applicationId, systemId, binds: 2, addresses, createdAtMs: 0 };
    const made = () =>
      newBind({
        ...{ id: newId('bnd', world.app.clock), account: known, mode: 'receiver', address: '127.0.0.1' },
        ...{ tls: false, boundAtMs: 0, key: 'x' },
      });
    const rows = async () =>
      (await database.query('select 1 from smpp_bind where account_id = $1', [uuidOf(id)])).rows.length;
    assert.equal(await binds.take(made()), true);
    isLost = true;
    await assert.rejects(binds.take(made()), lost);
    assert.equal(await rows(), 2);
    await eventually('it is not counted', async () => (await rows()) === 1, { withinMs: 10_000 });
    await binds.stop();
  });

  test('many binds at once get exactly what the account has', async () => {
    const caller = await createSmppCaller(world.app, 'free', { binds: 3 });
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectRaw(world.port)));
    const answers = await Promise.all(clients.map((client) => client.bind('bind_receiver', credentialsOf(caller))));
    assert.equal(answers.filter(({ status }) => status === 0).length, 3);
  });

  test('an address that is none of the account is 0x0D', async () => {
    const account = await createAccount(world.caller, { addresses: ['203.0.113.0/28'] });
    const client = await connectRaw(world.port);
    assert.equal((await client.bind('bind_transceiver', credentialsOf({ ...world.caller, account }))).status, 0x0d);
    const own = await createAccount(world.caller, { addresses: ['127.0.0.0/24'] });
    await bound(world, { ...world.caller, account: own });
  });

  test('without a bind, and as a receiver, a submit is 0x04; enquire_link is answered', async () => {
    const client = await connectRaw(world.port);
    client.send({ command: 'enquire_link', status: 0, sequence: 3 });
    assert.equal((await client.take('enquire_link_resp')).sequence, 3);
    assert.equal((await client.submit()).status, 0x04);
    const receiver = await bound(world, await createSmppCaller(world.app), 'bind_receiver');
    assert.equal((await receiver.submit()).status, 0x04);
  });

  test('unknown commands get a generic_nack 0x03, and the bind goes on', async () => {
    const client = await bound(world, await createSmppCaller(world.app));
    client.send({ command: 'unknown', status: 0, sequence: 9, commandId: 0x21, body: Buffer.from([1, 2]) });
    const nack = await client.take('generic_nack');
    assert.deepEqual([nack.status, nack.sequence], [0x03, 9]);
    assert.equal((await client.submit()).status, 0);
  });

  test('an unbind is answered after the submits before it', async () => {
    const client = await bound(world, await createSmppCaller(world.app));
    const answers = Promise.all(Array.from({ length: 20 }, () => client.submit()));
    client.send({ command: 'unbind', status: 0, sequence: 5000 });
    assert.ok((await answers).every(({ status }) => status === 0));
    assert.equal((await client.take('unbind_resp')).sequence, 5000);
    await client.closed();
  });

  test('a deleted account ends its binds, and a password without overlap those of the older one', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const rotated = await caller.developer.send<{ password: string }>(
      'POST',
      `${accountsPath(caller)}/${caller.account.id}/passwords`,
      { overlap_seconds: 0 },
    );
    assert.equal(rotated.status, 201);
    await client.take('unbind');
    client.close();
    const renewed = { ...caller, account: { ...caller.account, password: rotated.body.password } };
    const again = await bound(world, renewed);
    const { status } = await caller.developer.send('DELETE', `${accountsPath(caller)}/${caller.account.id}`);
    assert.equal(status, 204);
    await again.take('unbind');
    const late = await connectRaw(world.port);
    assert.equal((await late.bind('bind_transceiver', credentialsOf(renewed))).status, 0x0e);
  });

  test('a deleted account ends its binds, also when it could not be looked up at once', async () => {
    const caller = await createSmppCaller(world.app);
    const other = await createAccount(caller);
    const receiver = await bound(world, caller, 'bind_receiver');
    const client = await bound(world, { ...caller, account: other });
    const { database } = world.app.db;
    await database.query('alter table smpp_password rename to smpp_password_away');
    try {
      await database.transaction(async (tx) => {
        await tx.query('delete from smpp_account where id = $1', [uuidOf(caller.account.id)]);
        await tx.query('select record_registry_change($1, now())', [caller.id]);
      });
      await eventually('the node knows of the change', async () => (await client.submit()).status === 0x08);
    } finally {
      await database.query('alter table smpp_password_away rename to smpp_password');
    }
    await receiver.take('unbind');
    assert.equal((await client.submit()).status, 0);
  });

  test('a password with an overlap leaves the binds of the older one alone until it ends', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    await caller.developer.send('POST', `${accountsPath(caller)}/${caller.account.id}/passwords`, {
      overlap_seconds: 60,
    });
    assert.equal((await client.submit()).status, 0);
    world.app.clock.advance(61_000);
    await client.take('unbind');
  });
});

describe('wrong credentials', () => {
  test('are counted by address, 20 a minute; right ones are not, however many come at once', async () => {
    const world = await createSmppWorld({ delivery: 'held', env: { HELIOGRAPH_PASSWORD_PER_MINUTE: '20' } });
    const bindAll = (given: { systemId: string; password: string }, count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const client = await connectRaw(world.port);
          const { status } = await client.bind('bind_transceiver', given);
          return { client, status };
        }),
      );
    const [many, later] = [await createAccount(world.caller, { binds: 40 }), await createAccount(world.caller, {})];
    const admitted = await bindAll(credentialsOf({ ...world.caller, account: many }), 40);
    assert.ok(admitted.every(({ status }) => status === 0));
    const wrong = await bindAll({ systemId: 'nobody', password: 'secret' }, 21);
    assert.ok(wrong.every(({ status }) => status === 0x0e));
    const unseen = credentialsOf({ ...world.caller, account: later });
    assert.deepEqual(
      (await bindAll(unseen, 1)).map(({ status }) => status),
      [0x0e],
      'the address has to wait',
    );
    const seen = await bindAll(credentialsOf({ ...world.caller, account: many }), 1);
    assert.equal(seen[0]?.status, 0x0d, 'one that is known is not refused for its address');
    world.app.clock.advance(60_000);
    assert.deepEqual(
      (await bindAll(unseen, 1)).map(({ status }) => status),
      [0],
    );
    for (const { client } of admitted) client.close();
    await world.close();
  });
});
