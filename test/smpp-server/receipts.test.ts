import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusCode } from '../../src/messages/message-row.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { findTlv, tlvTags } from '../../src/smpp/pdu.ts';
import type { RawClient } from '../smpp/raw-client.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import {
  accountsPath,
  bound,
  createAccount,
  createSmppCaller,
  createSmppWorld,
  readAccount,
  type SmppCaller,
  type SmppWorld,
  submitMany,
} from './world.ts';

const delivered = '15005550100';
const undelivered = '15005550111';

function idOf(receipt: { tlvs: { tag: number; value: Buffer }[] }): string {
  return findTlv(receipt.tlvs, tlvTags.receiptedMessageId)?.toString('latin1').replace('\0', '') ?? '';
}

const compare = (a: string, b: string) => (a < b ? -1 : 1);

describe('receipts', () => {
  let world: SmppWorld;
  before(async () => {
    world = await createSmppWorld({ clock: createRunningClock() });
  });
  after(() => world.close());

  async function hasNone(client: RawClient, ms = 400): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
    assert.deepEqual(
      client.received.filter(({ command }) => command === 'deliver_sm'),
      [],
    );
  }

  test('has the text of the standard, its TLVs, and the addresses the other way round', async () => {
    const client = await bound(world, await createSmppCaller(world.app));
    const { messageId } = await client.submit({ destination: delivered });
    const receipt = await client.takeReceipt();
    assert.equal(receipt.esmClass, 0x04);
    assert.deepEqual(
      [receipt.source, receipt.sourceTon, receipt.destination, receipt.destinationTon],
      [delivered, 1, 'ACME', 5],
    );
    assert.match(
      receipt.shortMessage.toString('latin1'),
      new RegExp(
        `^id:${messageId} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:hello$`,
      ),
    );
    assert.equal(idOf(receipt), messageId);
    assert.deepEqual(findTlv(receipt.tlvs, tlvTags.messageState), Buffer.of(2));
    client.close();
  });

  test('comes as registered_delivery asks', async () => {
    const client = await bound(world, await createSmppCaller(world.app));
    const [none, failures, , everything] = await submitMany(client, [
      { destination: delivered, registeredDelivery: 0 },
      { destination: undelivered, registeredDelivery: 2 },
      { destination: delivered, registeredDelivery: 2 },
      { destination: delivered, registeredDelivery: 0x11 },
    ]);
    const receipts = [await client.takeReceipt(), await client.takeReceipt(), await client.takeReceipt()];
    const words = receipts.map((receipt) => [idOf(receipt), /stat:(\w+)/.exec(receipt.shortMessage.toString())?.[1]]);
    const of = (id: string | undefined) => words.filter(([about]) => about === id).map(([, stat]) => stat);
    assert.deepEqual(of(none?.messageId), []);
    assert.deepEqual(of(failures?.messageId), ['UNDELIV']);
    assert.deepEqual(of(everything?.messageId), ['ENROUTE', 'DELIVRD'], 'in order');
    await hasNone(client);
    client.close();
  });

  test('0x10 alone asks for the notification that the text is on its way, and for no receipt', async () => {
    const client = await bound(world, await createSmppCaller(world.app));
    const answers = await submitMany(client, [
      { destination: delivered, registeredDelivery: 0x10 },
      { destination: undelivered, registeredDelivery: 0x10 },
      // Its receipt comes last: none of the others is still to come.
      { destination: undelivered, registeredDelivery: 0x12 },
    ]);
    const stats: string[][] = answers.map(() => []);
    for (let taken = 0; taken < 4; taken++) {
      const receipt = await client.takeReceipt();
      const of = answers.findIndex(({ messageId }) => messageId === idOf(receipt));
      stats[of]?.push(/stat:(\w+)/.exec(receipt.shortMessage.toString())?.[1] ?? '');
      if (of < 2) assert.equal(receipt.esmClass, 0x20);
    }
    assert.deepEqual(stats, [['ENROUTE'], ['ENROUTE'], ['ENROUTE', 'UNDELIV']]);
    await hasNone(client);
    client.close();
  });

  test('waits in the store for a receiver of the account that submitted', async () => {
    const caller = await createSmppCaller(world.app);
    const other: SmppCaller = { ...caller, account: await createAccount(caller) };
    const sender = await bound(world, caller, 'bind_transmitter');
    const { messageId } = await sender.submit({ destination: delivered });
    await eventually('it waits', async () => (await readAccount(caller)).waiting.count === 1);
    const stranger = await bound(world, other, 'bind_receiver');
    await hasNone(stranger);
    const receiver = await bound(world, caller, 'bind_receiver');
    assert.equal(idOf(await receiver.takeReceipt()), messageId);
    await eventually('it is gone', async () => (await readAccount(caller)).waiting.count === 0);
    for (const client of [sender, stranger, receiver]) client.close();
  });

  test('is sent again when it is refused, and when the receiver goes without an answer', async () => {
    const caller = await createSmppCaller(world.app);
    const first = await bound(world, caller);
    const { messageId } = await first.submit({ destination: delivered });
    assert.equal(idOf(await first.takeReceipt(0x64)), messageId);
    const again = await first.take('deliver_sm');
    assert.equal(idOf(again), messageId);
    first.close();
    const second = await bound(world, caller);
    assert.equal(idOf(await second.takeReceipt()), messageId);
    await hasNone(second);
    second.close();
  });

  test('two receivers of an account share the work without a copy', async () => {
    const caller = await createSmppCaller(world.app);
    const clients = [await bound(world, caller), await bound(world, caller)];
    const [first] = clients as [RawClient, RawClient];
    const texts = Array.from({ length: 200 }, () => ({ destination: delivered }));
    const ids = (await submitMany(first, texts)).map(({ messageId }) => messageId);
    const got: string[][] = [[], []];
    await eventually('every receipt came', async () => {
      for (const [index, client] of clients.entries())
        while (client.received.some(({ command }) => command === 'deliver_sm'))
          got[index]?.push(idOf(await client.takeReceipt()));
      return got.flat().length >= ids.length;
    });
    assert.deepEqual(got.flat().toSorted(compare), ids.toSorted(compare));
    await Promise.all(clients.map((client) => hasNone(client, 100)));
    for (const client of clients) client.close();
  });

  test('the portal can test the receivers of an account', async () => {
    const caller = await createSmppCaller(world.app);
    const path = `${accountsPath(caller)}/${caller.account.id}/test`;
    const receiver = await bound(world, caller, 'bind_receiver');
    const testing = caller.developer.send<{ outcome: string }>('POST', path);
    await receiver.takeReceipt();
    const { status, body } = await testing;
    assert.deepEqual([status, body.outcome], [200, 'acknowledged']);
    receiver.close();
  });
});

describe('texts from phones', () => {
  let world: SmppWorld;
  before(async () => {
    world = await createSmppWorld({ clock: createRunningClock() });
  });
  after(() => world.close());

  test('go to one receiver of the application, and wait for it', async () => {
    const { caller } = world;
    const [own, phone] = ['+447800900000', '+447700900123'];
    const sender = await bound(world, caller, 'bind_transmitter');
    await sender.submit({ sourceTon: 1, source: own.slice(1), destination: phone.slice(1), registeredDelivery: 0 });
    const path = '/sandbox/v1/inbox/replies';
    const headers = { apikey: caller.apiKey };
    const texts = ['Yes, at 5 €', 'Да', 'long '.repeat(100).trim()];
    for (const message of texts)
      await eventually('the phone can answer', async () => {
        const body = { from: phone, to: own, message };
        return (await send(world.app, 'POST', path, { headers, body })).status === 201;
      });
    const [first, second, third] = await (async () => {
      const receiver = await bound(world, caller, 'bind_receiver');
      return [await receiver.takeReceipt(), await receiver.takeReceipt(), await receiver.takeReceipt()];
    })();
    assert.deepEqual(
      [first?.source, first?.destination, first?.esmClass, first?.dataCoding],
      ['447700900123', '447800900000', 0, 0],
    );
    assert.deepEqual(first?.shortMessage, Buffer.from('Yes, at 5 \x1be'));
    assert.deepEqual([second?.dataCoding, second?.shortMessage.toString('hex')], [8, '04140430']);
    assert.equal(third?.shortMessage.length, 0);
    assert.equal(findTlv(third?.tlvs ?? [], tlvTags.messagePayload)?.toString(), texts[2]);
    sender.close();
  });
});

test('a receipt whose record could not be read is sent when it can be', async () => {
  const world = await createSmppWorld({ delivery: 'held', clock: createRunningClock() });
  const { app, caller } = world;
  const { database } = app.db;
  const sender = await bound(world, caller, 'bind_transmitter');
  const { messageId } = await sender.submit();
  await database.query(
    `insert into smpp_delivery (owner, application_id, kind, subject, status, created_at, due_at)
     values ($1, $2, 0, $3, $4, now(), now() - interval '1 minute')`,
    [uuidOf(caller.account.id), uuidOf(caller.id), uuidOf(messageId), statusCode('delivered')],
  );
  await database.query('alter table message rename to message_away');
  const receiver = await bound(world, caller, 'bind_receiver');
  try {
    await eventually('it is claimed', async () => {
      const { rows } = await database.query('select 1 from smpp_delivery where attempts > 0');
      return rows.length > 0;
    });
  } finally {
    await database.query('alter table message_away rename to message');
  }
  assert.equal(idOf(await receiver.takeReceipt()), messageId);
  await world.close();
});
