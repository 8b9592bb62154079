// A provider's ids are text from outside: whatever they hold, no text is lost or sent twice for them.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { jsonCall, make } from './call.ts';
import { type Double, type GotRequest, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let double: Double;
let oddId: string;
let given = 0;
before(async () => {
  world = await createHttpCarrierWorld();
});
after(() => world.close());
const bodyOf = (request: GotRequest | undefined) => JSON.parse(request?.body ?? '{}') as Record<string, string>;
beforeEach(async () => {
  double = await startDouble((request) => {
    const { text = '' } = bodyOf(request);
    const id = text.startsWith('odd') ? oddId : `id-${++given}`;
    return { status: 200, body: { ids: text.includes('twice') ? [id, `${id}2`] : [id], price: '0.01' } };
  });
});
afterEach(async () => {
  await world.disconnect();
  await double.close();
});

const connect = () =>
  world.connect({
    base: double.url,
    describe: {
      url: '{{base}}/send',
      auth: { kind: 'bearer', value: '{{secret:key}}' },
      json: { to: '{{to}}', text: '{{text}}', id: '{{id}}', callback: '{{receipts_url}}', from: '{{from}}' },
      accepted: [{ status: [200] }],
      id: 'ids.*',
      told: { price: 'price' },
      receipt: { id: 'id', verify: { kind: 'token' }, state: { path: 'state', map: { ok: 'delivered' } } },
      inbound: { id: 'id', from: 'from', to: 'to', text: 'text', verify: { kind: 'token' } },
    },
    secrets: { key: 'k' },
    on_doubt_seconds: 0,
  });

const oddIds: [string, string][] = [
  ['a NUL', 'a\0b'],
  ['half a character', 'a\ud83db'],
  ['half a character where it is cut', `${'a'.repeat(254)}\u{1f600}`],
  ['30 kB', Array.from({ length: 6000 }, (_, each) => each.toString(36).padStart(5, '~')).join('')],
];

for (const [what, id] of oddIds) {
  describe(`an id with ${what}`, () => {
    test('each text is sent once, and receipts find it', async () => {
      oddId = id;
      await connect();
      const messages = ['odd', 'plain', 'odd twice', 'plain', 'plain twice'];
      const texts = await Promise.all(messages.map((message) => world.send({ message })));
      for (const text of texts) await world.untilStatus(text.id, 'sent');
      assert.equal(double.requests.length, messages.length, 'each was sent once');
      const callback = bodyOf(double.requests.find((request) => bodyOf(request).text === 'odd')).callback ?? '';
      assert.equal((await make(jsonCall(callback, { id: `${id}2`, state: 'ok' }))).status, 200);
      assert.equal((await make(jsonCall(callback, { id, state: 'ok' }))).status, 200);
    });

    test('a test of the carrier shows it, finds its receipt, and the log has it', async () => {
      oddId = id;
      await connect();
      const path = '/portal/v1/operator/carriers/provider';
      const asked = await world.operator.send<{ id: string }>('POST', `${path}/test`, {
        to: '+447700900123',
        message: 'odd',
      });
      await eventually('the request came', () => double.requests.length === 1);
      const { callback = '' } = bodyOf(double.requests[0]);
      assert.equal((await make(jsonCall(callback, { id, state: 'ok' }))).status, 200);
      const told = await eventually('the test to end', async () => {
        const { body } = await world.operator.send<{ status: string; steps: { step: string; detail: string }[] }>(
          'GET',
          `${path}/test/${asked.body.id}`,
        );
        return body.status !== 'running' && body.status !== 'waiting' && body;
      });
      assert.equal(told.status, 'passed', JSON.stringify(told.steps));
      const { body } = await world.operator.send<{ data: { carrier_message_id: string | null }[] }>(
        'GET',
        `${path}/log`,
      );
      assert.match(body.data[0]?.carrier_message_id ?? '', /^[\x21-\x7e]{1,65}$/);
    });

    test('a text from a phone is kept once, however often the provider repeats it', async () => {
      oddId = id;
      const { callbacks } = await connect();
      const inbound = callbacks?.inbound ?? assert.fail('it has no callbacks');
      for (let time = 1; time <= 2; time++) {
        const body = { id, from: '+447700900123', to: '+447700900999', text: `Hello ${what}` };
        assert.equal((await make(jsonCall(inbound, body))).status, 200);
      }
      const { rows } = await world.app.db.database.query<{ count: number }>(
        'select count(*)::integer from inbound_text where body = $1',
        [`Hello ${what}`],
      );
      assert.equal(rows[0]?.count, 1);
    });
  });
}
