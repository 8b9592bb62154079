import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RawClient } from '../smpp/raw-client.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppWorld, submitMany } from './world.ts';

describe('query_sm and cancel_sm', () => {
  let world: SmppWorld;
  let client: RawClient;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held' });
    client = await bound(world, world.caller);
  });
  after(() => world.close());

  const source = { sourceTon: 0, sourceNpi: 0, source: '' };

  async function query(messageId: string, of = client) {
    of.send({ command: 'query_sm', status: 0, sequence: 71, messageId, ...source });
    return of.take('query_sm_resp');
  }

  async function cancel(messageId: string, of = client) {
    const destination = { destinationTon: 0, destinationNpi: 0, destination: '' };
    of.send({ command: 'cancel_sm', status: 0, sequence: 72, serviceType: '', messageId, ...source, ...destination });
    return (await of.take('cancel_sm_resp')).status;
  }

  test('a text on its way is ENROUTE, a canceled one DELETED with its time', async () => {
    const { messageId } = await client.submit();
    const before = await query(messageId);
    assert.deepEqual([before.status, before.messageId, before.messageState, before.finalDate], [0, messageId, 1, '']);
    assert.equal(await cancel(messageId), 0);
    const after = await query(messageId);
    assert.deepEqual([after.messageState, after.errorCode], [4, 0]);
    assert.match(after.finalDate, /^\d{12}000\+$/);
    assert.equal(await cancel(messageId), 0x11, 'it is canceled already');
    const receipt = await client.takeReceipt();
    assert.match(receipt.shortMessage.toString(), /stat:DELETED/);
  });

  test('a scheduled text is ACCEPTED and can be canceled', async () => {
    const { messageId } = await client.submit({ scheduleDeliveryTime: '000001000000000R' });
    assert.equal((await query(messageId)).messageState, 6);
    assert.equal(await cancel(messageId), 0);
    await client.takeReceipt();
  });

  test('an unknown id, and one of another application, is 0x0C', async () => {
    const { messageId } = await client.submit();
    const stranger = await bound(world, await createSmppCaller(world.app));
    for (const id of ['', 'x', messageId]) {
      assert.equal((await query(id, stranger)).status, 0x0c, id);
      assert.equal(await cancel(id, stranger), 0x0c, id);
    }
    stranger.close();
  });

  test('they count as requests', async () => {
    const free = await bound(world, await createSmppCaller(world.app, 'free'));
    const [{ messageId } = { messageId: '' }] = await submitMany(
      free,
      Array.from({ length: 59 }, () => ({})),
    );
    assert.equal((await query(messageId, free)).status, 0);
    assert.equal((await query(messageId, free)).status, 0x58);
    free.close();
  });
});
