// query_sm and cancel_sm of parts that wait for the others of their text.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { writeSmppTime } from '../../src/smpp-server/submit-times.ts';
import type { RawClient } from '../smpp/raw-client.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { part } from './part-fields.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppCaller, type SmppWorld, submitMany } from './world.ts';

const source = { sourceTon: 0, sourceNpi: 0, source: '' };
const destination = { destinationTon: 0, destinationNpi: 0, destination: '' };

async function query(client: RawClient, messageId = '') {
  client.send({ command: 'query_sm', status: 0, sequence: 71, messageId, ...source });
  return client.take('query_sm_resp');
}

async function cancel(client: RawClient, messageId = ''): Promise<number> {
  client.send({ command: 'cancel_sm', status: 0, sequence: 72, serviceType: '', messageId, ...source, ...destination });
  return (await client.take('cancel_sm_resp')).status;
}

describe('parts that wait', () => {
  let world: SmppWorld;
  let caller: SmppCaller;
  let client: RawClient;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held', clock: createRunningClock() });
    caller = await createSmppCaller(world.app);
    client = await bound(world, caller);
  });
  after(() => world.close());

  async function giveUp(messageId = ''): Promise<void> {
    world.app.clock.advance(66_000);
    await eventually('the part is given up', async () => {
      await world.app.delivery.maintenance.runAll();
      return (await query(client, messageId)).messageState === 5;
    });
  }

  async function messagesOf(of: SmppCaller): Promise<{ message: string; status: string }[]> {
    const { body } = await send<{ data: never[] }>(world.app, 'GET', '/sms/v1/messages?limit=100', {
      headers: { apikey: of.apiKey },
    });
    return body.data;
  }

  test('a part that was given up is UNDELIV since then', async () => {
    const { messageId } = await client.submit(part('udh8', 1, 2, 1, 'alone'));
    const waits = await query(client, messageId);
    assert.deepEqual([waits.status, waits.messageState, waits.finalDate, waits.errorCode], [0, 1, '', 0]);
    const fromMs = world.app.clock.nowMs() + 60_000;
    await giveUp(messageId);
    const { finalDate, errorCode } = await query(client, messageId);
    assert.equal(errorCode, 10);
    const untilMs = world.app.clock.nowMs();
    assert.ok(finalDate >= writeSmppTime(fromMs) && finalDate <= writeSmppTime(untilMs), finalDate);
    assert.match((await client.takeReceipt()).shortMessage.toString(), /stat:UNDELIV err:010/);
    // As a node from before `ended_at` leaves it.
    await world.app.db.database.query('update smpp_part set ended_at = null, end_status = null');
    const older = await query(client, messageId);
    assert.equal(older.messageState, 5);
    assert.ok(older.finalDate >= writeSmppTime(fromMs) && older.finalDate <= writeSmppTime(untilMs), older.finalDate);
  });

  test('canceling one cancels its whole text; parts that come later are a text of their own', async () => {
    const parts = [1, 2, 3].map((number) => part('udh8', 2, 3, number, `${number}`));
    const [first, last] = await submitMany(client, [
      { ...parts[0], registeredDelivery: 2 },
      { ...parts[2], registeredDelivery: 0 },
    ]);
    const other = await client.submit(part('udh8', 3, 2, 1, 'another text'));
    const stranger = await bound(world, await createSmppCaller(world.app));
    assert.equal(await cancel(stranger, first?.messageId), 0x0c);
    stranger.close();
    assert.equal(await cancel(client, last?.messageId), 0);
    for (const each of [first, last]) {
      const { messageState, finalDate, errorCode } = await query(client, each?.messageId);
      assert.deepEqual([messageState, errorCode], [4, 0]);
      assert.match(finalDate, /^\d{12}000\+$/);
      assert.equal(await cancel(client, each?.messageId), 0x11, 'it is canceled already');
    }
    const { shortMessage } = await client.takeReceipt();
    assert.match(shortMessage.toString(), new RegExp(`^id:${first?.messageId} .*stat:DELETED err:000`));
    assert.equal((await query(client, other.messageId)).messageState, 1, 'another text still waits');

    const again = await submitMany(client, parts.slice(0, 2));
    assert.ok(!again.some(({ messageId }) => messageId === first?.messageId));
    assert.deepEqual(await messagesOf(caller), []);
    await giveUp(again[0]?.messageId);
    const receipts = [await client.takeReceipt(), await client.takeReceipt(), await client.takeReceipt()];
    assert.deepEqual(
      new Set(receipts.map((each) => /^id:(\S+) .*stat:UNDELIV/.exec(each.shortMessage.toString())?.[1])),
      new Set([...again, other].map(({ messageId }) => messageId)),
    );
    assert.deepEqual(await messagesOf(caller), []);
  });

  test('a part that was given up cannot be canceled', async () => {
    const { messageId } = await client.submit({ ...part('udh8', 4, 2, 1, 'alone'), registeredDelivery: 0 });
    await giveUp(messageId);
    assert.equal(await cancel(client, messageId), 0x11);
    assert.equal((await query(client, messageId)).messageState, 5);
  });

  test('when the last part comes at the same time, the text is canceled or on its way, as the answer says', async () => {
    const own = await createSmppCaller(world.app);
    const [sender, canceler] = await Promise.all([bound(world, own), bound(world, own)]);
    const texts = Array.from({ length: 40 }, (_, index) => index);
    const first = await submitMany(
      sender,
      texts.map((index) => part('udh16', index, 2, 1, `${index}.`)),
    );
    const statuses = new Map<string, number>();
    for (const index of texts) {
      const [status] = await Promise.all([
        cancel(canceler, first[index]?.messageId),
        sender.submit(part('udh16', index, 2, 2, 'end')),
      ]);
      assert.ok(status === 0 || status === 0x11, `0x${status.toString(16)}`);
      statuses.set(`${index}.end`, status);
    }
    const sent = (await messagesOf(own)).filter(({ status }) => status !== 'canceled').map(({ message }) => message);
    const failed = [...statuses].filter(([, status]) => status === 0x11).map(([message]) => message);
    assert.deepEqual(new Set(sent), new Set(failed));
    for (const each of [sender, canceler]) each.close();
  });
});
