// Peers that leave before they have the answers to their submits, such as during a failover of Postgres.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { connectRaw, type RawClient, textTo } from '../smpp/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { countMessages } from '../support/texts.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppCaller, type SmppWorld } from './world.ts';

describe('a peer that leaves before it has its answers', () => {
  let world: SmppWorld;
  let caller: SmppCaller;
  let client: RawClient;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held' });
  });
  after(() => world.close());

  /** Three submits are read, and none is answered until the work is done: their account changed and cannot be read. */
  async function whileHeld(work: () => Promise<void>): Promise<void> {
    caller = await createSmppCaller(world.app);
    client = await bound(world, caller);
    await world.app.db.database.transaction(async (tx) => {
      await tx.query('lock table smpp_account in access exclusive mode');
      const path = `/portal/v1/applications/${caller.id}`;
      assert.equal((await caller.developer.send('PATCH', path, { name: 'Changed' })).status, 200);
      for (const sequence of [101, 102, 103])
        client.send({ ...textTo('447700900123'), command: 'submit_sm', status: 0, sequence });
      client.send({ command: 'enquire_link', status: 0, sequence: 104 });
      await client.take('enquire_link_resp');
      await work();
    });
  }

  /** Returns once all deadlines were checked at the later time. */
  async function pass(ms: number): Promise<void> {
    const idle = await connectRaw(world.port);
    world.app.clock.advance(ms);
    await idle.closed();
  }

  async function leavesItsBind(): Promise<void> {
    await eventually('its bind is free', async () => {
      const account = uuidOf(caller.account.id);
      const { rows } = await world.app.db.database.query('select from smpp_bind where account_id = $1', [account]);
      return rows.length === 0;
    });
  }

  async function assertAnswered(): Promise<void> {
    const answers = [await client.next(), await client.next(), await client.next()];
    assert.deepEqual(
      answers.map(({ command, status, sequence }) => [command, status, sequence]),
      [101, 102, 103].map((sequence) => ['submit_sm_resp', 0, sequence]),
    );
    assert.equal(await countMessages(world.app, caller.id), 3);
  }

  test('its unbind is answered once its submits are', async () => {
    await whileHeld(async () => {
      client.send({ command: 'unbind', status: 0, sequence: 105 });
      await pass(20_000);
      assert.deepEqual([client.isClosed, client.received], [false, []]);
    });
    await assertAnswered();
    const { command, sequence } = await client.next();
    assert.deepEqual([command, sequence], ['unbind_resp', 105]);
    await client.closed();
  });

  test('after its unbind it is cut off after 30 s without them, however often it unbinds', async () => {
    await whileHeld(async () => {
      client.send({ command: 'unbind', status: 0, sequence: 105 });
      await pass(20_000);
      client.send({ command: 'unbind', status: 0, sequence: 106 });
      client.send({ command: 'enquire_link', status: 0, sequence: 107 });
      await client.take('enquire_link_resp');
      world.app.clock.advance(10_000);
      await client.closed();
    });
    assert.deepEqual(client.received, []);
  });

  test('it has its answers when it has closed its side, which frees its bind at once', async () => {
    await whileHeld(async () => {
      client.end();
      await leavesItsBind();
      await pass(20_000);
      assert.ok(!client.isClosed);
    });
    await assertAnswered();
    await client.closed();
  });

  test('so it has when it closes its side after an unbind', async () => {
    await whileHeld(async () => {
      client.send({ command: 'unbind', status: 0, sequence: 105 });
      client.end();
      await leavesItsBind();
      await pass(20_000);
    });
    await assertAnswered();
    assert.equal((await client.next()).command, 'unbind_resp');
    await client.closed();
  });

  test('with its side closed it is cut off after 30 s without them', async () => {
    await whileHeld(async () => {
      client.end();
      await leavesItsBind();
      world.app.clock.advance(30_000);
      await client.closed();
    });
    assert.deepEqual(client.received, []);
  });

  test('with its side closed and a part of a PDU behind it has its answers too', async () => {
    await whileHeld(async () => {
      client.sendOctets(Buffer.from('0000004000000004', 'hex'));
      client.end();
      await leavesItsBind();
      await pass(20_000);
    });
    await assertAnswered();
    await client.closed();
  });

  test('one that is not bound, or waits for nothing, is closed when it closes its side', async () => {
    for (const each of [await connectRaw(world.port), await bound(world, world.caller)]) {
      each.end();
      await each.closed();
    }
  });
});
