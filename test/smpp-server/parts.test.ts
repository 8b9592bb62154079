import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connectRaw } from '../smpp/raw-client.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createProduction } from '../support/production.ts';
import { countMessages } from '../support/texts.ts';
import { part } from './part-fields.ts';
import {
  bound,
  createAccount,
  createSmppCaller,
  createSmppWorld,
  type SmppCaller,
  type SmppWorld,
  statusOf,
  submitMany,
} from './world.ts';

const compare = (a: string, b: string) => (a < b ? -1 : 1);

describe('parts of long texts', () => {
  let world: SmppWorld;
  before(async () => {
    world = await createSmppWorld({ clock: createRunningClock() });
  });
  after(() => world.close());

  async function messagesOf(
    caller: SmppCaller,
  ): Promise<{ message: string; segments: { count: number }; status: string; id: string }[]> {
    const { body } = await send<{ data: never[] }>(world.app, 'GET', '/sms/v1/messages', {
      headers: { apikey: caller.apiKey },
    });
    return body.data;
  }

  for (const form of ['udh8', 'udh16', 'sar'] as const)
    test(`${form}: are one message, in any order; each part has an id and a receipt of its own`, async () => {
      const caller = await createSmppCaller(world.app);
      const client = await bound(world, caller);
      const texts = ['A'.repeat(150), 'B'.repeat(150), 'C'.repeat(20)];
      const destination = '15005550100';
      const ids = new Map<string, number>();
      for (const number of [2, 3, 1]) {
        const answer = await client.submit({ destination, ...part(form, 77, 3, number, texts[number - 1] ?? '') });
        assert.equal(answer.status, 0);
        ids.set(answer.messageId, number);
      }
      assert.equal(ids.size, 3);
      const data = await messagesOf(caller);
      assert.deepEqual(
        data.map(({ message, segments }) => [message, segments.count]),
        [[texts.join(''), 3]],
      );
      const receipts = [await client.takeReceipt(), await client.takeReceipt(), await client.takeReceipt()];
      const reported = receipts.map(
        ({ shortMessage }) => /^id:(\S+) .*stat:DELIVRD/.exec(shortMessage.toString())?.[1],
      );
      assert.deepEqual(new Set(reported), new Set(ids.keys()));
      const [of] = [...ids.keys()];
      client.send({
        command: 'query_sm',
        status: 0,
        sequence: 800,
        messageId: of ?? '',
        sourceTon: 0,
        sourceNpi: 0,
        source: '',
      });
      assert.equal((await client.take('query_sm_resp')).messageState, 2);
      client.close();
    });

  test('a part that comes again has its id, and the text is sent once', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const [first, last] = [part('udh8', 5, 2, 1, 'one '), part('udh8', 5, 2, 2, 'two')];
    const answers = await submitMany(client, [first, first]);
    assert.equal(answers[0]?.messageId, answers[1]?.messageId);
    const ended = await client.submit(last);
    assert.equal((await client.submit(last)).messageId, ended.messageId);
    assert.equal((await messagesOf(caller)).length, 1);
    client.close();
  });

  test('texts with the same reference to different phones, and of different senders, stay apart', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const others = [{}, { destination: '447700900999' }, { source: 'OTHER' }];
    await submitMany(
      client,
      others.map((other, index) => ({ ...other, ...part('udh8', 9, 2, 1, `${index}a`) })),
    );
    await submitMany(
      client,
      others.map((other, index) => ({ ...other, ...part('udh8', 9, 2, 2, `${index}b`) })),
    );
    assert.deepEqual((await messagesOf(caller)).map(({ message }) => message).toSorted(compare), [
      '0a0b',
      '1a1b',
      '2a2b',
    ]);
    client.close();
  });

  test('parts at once, on two binds, make one message', async () => {
    const caller = await createSmppCaller(world.app);
    const clients = await Promise.all([bound(world, caller), bound(world, caller)]);
    await Promise.all(
      clients.map((client, index) =>
        submitMany(
          client,
          Array.from({ length: 20 }, (_, text) => part('udh16', text, 2, index + 1, `${text}.${index}`)),
        ),
      ),
    );
    const data = await messagesOf(caller);
    assert.equal(data.length, 20);
    assert.ok(
      data.every(({ message }) => /^(\d+)\.0\1\.1$/.test(message)),
      data.map(({ message }) => message).join(),
    );
    for (const client of clients) client.close();
  });

  test('a text that never completes is not sent: its parts get a receipt UNDELIV', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const answers = await submitMany(client, [part('udh8', 1, 3, 1, 'a'), part('udh8', 1, 3, 3, 'c')]);
    world.app.clock.advance(66_000);
    await eventually('the parts are given up', async () => {
      await world.app.delivery.maintenance.runAll();
      return client.received.some(({ command }) => command === 'deliver_sm');
    });
    const receipts = [await client.takeReceipt(), await client.takeReceipt()];
    assert.deepEqual(
      new Set(
        receipts.map(({ shortMessage }) => /^id:(\S+) .*stat:UNDELIV err:010/.exec(shortMessage.toString())?.[1]),
      ),
      new Set(answers.map(({ messageId }) => messageId)),
    );
    assert.deepEqual(await messagesOf(caller), []);
    client.close();
  });

  test('parts that ask for 0x10 alone have ENROUTE each, and no receipt when they are given up', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const wanted = { destination: '15005550100', registeredDelivery: 0x10 };
    const whole = await submitMany(client, [
      { ...wanted, ...part('udh8', 2, 2, 1, 'a') },
      { ...wanted, ...part('udh8', 2, 2, 2, 'b') },
    ]);
    const receipts = [await client.takeReceipt(), await client.takeReceipt()];
    assert.deepEqual(
      new Set(receipts.map(({ shortMessage }) => /^id:(\S+) .*stat:ENROUTE/.exec(shortMessage.toString())?.[1])),
      new Set(whole.map(({ messageId }) => messageId)),
    );
    const [, loud] = await submitMany(client, [
      { ...wanted, ...part('udh8', 6, 2, 1, 'a') },
      { ...part('udh8', 7, 2, 1, 'a') },
    ]);
    world.app.clock.advance(66_000);
    await eventually('the parts are given up', async () => {
      await world.app.delivery.maintenance.runAll();
      return client.received.some(({ command }) => command === 'deliver_sm');
    });
    const { shortMessage } = await client.takeReceipt();
    assert.match(shortMessage.toString(), new RegExp(`^id:${loud?.messageId} .*stat:UNDELIV`));
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.ok(!client.received.some(({ command }) => command === 'deliver_sm'));
    client.close();
  });

  test('another text with the same reference waits, a joined text has ten segments at most, and parts are bounded', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    await client.submit(part('udh8', 3, 2, 1, 'one'));
    assert.equal(await statusOf(client, part('udh8', 3, 2, 1, 'other')), 0x14);
    assert.equal(await statusOf(client, part('udh8', 3, 13, 1, 'x')), 0x01);
    const long = Array.from({ length: 12 }, (_, index) => part('udh8', 4, 12, index + 1, 'x'.repeat(153)));
    const answers = await submitMany(client, long);
    assert.equal(answers.filter(({ status }) => status === 0x01).length, 1, 'the last one is refused');
    assert.deepEqual(await messagesOf(caller), []);
    client.close();
  });

  test('a thousand parts of an account wait at most, on all its binds; the next is refused until some are joined or given up', async () => {
    const caller = await createSmppCaller(world.app);
    const clients = await Promise.all([bound(world, caller), bound(world, caller)]);
    const [client, other] = clients;
    const first = (reference: number) => part('udh16', reference, 2, 1, `${reference}`);
    const answers = await Promise.all(
      clients.map((each, half) =>
        submitMany(
          each,
          Array.from({ length: 510 }, (_, index) => first(510 * half + index)),
        ),
      ),
    );
    const refused = answers.flat().filter(({ status }) => status !== 0);
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([0x14]));
    assert.equal(refused.length, 20);
    assert.equal(await statusOf(other, first(5000)), 0x14);
    assert.equal(
      await statusOf(await bound(world, await createSmppCaller(world.app)), first(5000)),
      0,
      'another account',
    );
    // Those that wait may be joined, and leave room.
    assert.equal(await statusOf(client, part('udh16', 0, 2, 2, '!')), 0);
    assert.equal(await statusOf(other, first(5001)), 0);
    assert.equal(await statusOf(other, first(5002)), 0x14);
    world.app.clock.advance(66_000);
    await eventually('the others are given up', async () => {
      await world.app.delivery.maintenance.runAll();
      return (await statusOf(other, first(5003))) === 0;
    });
    for (const each of clients) each.close();
  });

  test('a last part whose text was not written is not taken for kept: sent again, it sends the text once', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    const [first, last] = [part('udh8', 21, 2, 1, 'begin '), part('udh8', 21, 2, 2, 'end')];
    const { messageId: firstId } = await client.submit(first);
    const { database } = world.app.db;
    await database.query(`create function refuse_message() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`);
    await database.query(
      'create trigger refused before insert on message for each row execute function refuse_message()',
    );
    try {
      assert.equal(await statusOf(client, last), 0x08);
    } finally {
      await database.query('drop function refuse_message cascade');
    }
    assert.equal(await statusOf(client, last), 0x08, 'it may still be written');
    assert.deepEqual(await messagesOf(caller), []);
    world.app.clock.advance(40_000);
    const answers = await submitMany(client, [first, last]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [0, 0],
    );
    assert.equal(answers[0]?.messageId, firstId);
    assert.deepEqual(
      (await messagesOf(caller)).map(({ message }) => message),
      ['begin end'],
    );
    assert.equal((await client.submit(last)).messageId, answers[1]?.messageId);
    assert.equal((await messagesOf(caller)).length, 1);
    client.close();
  });

  test('a last part that is submitted three times at once gets the same answer each time, also while its text is being written', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound(world, caller);
    for (let round = 0; round < inShort(20, 1000); round++) {
      await client.submit(part('udh16', round, 2, 1, 'begin '));
      const last = part('udh16', round, 2, 2, `end ${round}`);
      const answers = await submitMany(client, [last, last, last]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [0, 0, 0],
        `round ${round}`,
      );
      assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 1);
    }
    client.close();
  });
});

test('a text that was refused whole may come again: its parts are not taken for those that were given up', async () => {
  const env = { HELIOGRAPH_SENDERS: 'open', HELIOGRAPH_SMPP_PORT: '2775' };
  const { app, operator, createCaller } = await createProduction({ env });
  try {
    const sender = await createCaller({ apis: ['sms'], plan: 'enterprise' });
    const limit = (segments_per_day: number | null) =>
      operator.send('PATCH', `/portal/v1/operator/applications/${sender.id}`, { segments_per_day });
    assert.equal((await limit(1)).status, 200);
    const account = await createAccount(sender, { addresses: ['127.0.0.1'] });
    const client = await connectRaw(app.app.smpp.port ?? 0);
    const credentials = { systemId: account.system_id, password: account.password };
    assert.equal((await client.bind('bind_transceiver', credentials)).status, 0);
    const destination = '447400123456';
    const [first, last] = [1, 2].map((number) => ({ destination, ...part('udh8', 8, 2, number, 'x'.repeat(150)) }));
    const before = await client.submit(first);
    assert.equal(await statusOf(client, last ?? {}), 0x45);
    assert.equal((await limit(null)).status, 200);
    const again = await client.submit(first);
    assert.equal(again.status, 0);
    assert.notEqual(again.messageId, before.messageId);
    assert.equal(await statusOf(client, last ?? {}), 0);
    assert.equal(await countMessages(app, sender.id), 1);
    client.close();
  } finally {
    await app.close();
  }
});
