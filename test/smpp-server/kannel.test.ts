import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type KannelGateway, startKannel } from './kannel-gateway.ts';
import { createSmppWorld, credentialsOf, readAccount, type SmppWorld } from './world.ts';

describe('Kannel sends through us, with the settings of the guide', () => {
  let world: SmppWorld;
  let kannel: KannelGateway;
  const reports: string[] = [];
  const receiver = createServer((request, response) => {
    reports.push(request.url ?? '');
    response.end();
  });
  before(async () => {
    world = await createSmppWorld({ clock: createRunningClock() });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', () => resolve()));
    kannel = await startKannel(world.port, credentialsOf(world.caller));
  });
  after(async () => {
    await kannel.stop();
    receiver.closeAllConnections();
    receiver.close();
    await world.close();
  });

  test('short, long and UCS-2 texts arrive whole, and each has its receipts', async () => {
    const { caller } = world;
    const texts = ['hello from Kannel @ [1]', 'A long text of several parts. '.repeat(12).trim(), 'Žluťoučký kůň'];
    const dlr = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    for (const [index, text] of texts.entries())
      assert.equal(await kannel.send('+15005550100', text, `${dlr}${index}?type=%d`), 202);
    const read = async () => {
      const answer = await send<{ data: { message: string; status: string; from: string }[] }>(
        world.app,
        'GET',
        '/sms/v1/messages',
        { headers: { apikey: caller.apiKey } },
      );
      return answer.body.data;
    };
    await eventually('all are delivered', async () => {
      const found = await read();
      return found.length === 3 && found.every(({ status }) => status === 'delivered');
    });
    const found = await read();
    assert.deepEqual(new Set(found.map(({ message }) => message)), new Set(texts));
    assert.ok(found.every(({ from }) => from === 'ACME'));
    const seen = (index: number, type: number) => reports.filter((url) => url === `/${index}?type=${type}`).length;
    // 8: accepted by us; 1: delivered.
    await eventually('Kannel reports them', () => texts.every((_, index) => seen(index, 8) > 0 && seen(index, 1) > 0));
    assert.deepEqual((await readAccount(caller)).problems, []);
    await eventually('nothing waits', async () => (await readAccount(caller)).waiting.count === 0);
  });
});
