// A carrier from an operator's own description: the real app, a real database, and a provider's double on loopback.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { type Double, type GotRequest, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let double: Double;
let given = 0;
before(async () => {
  world = await createHttpCarrierWorld();
});
after(() => world.close());
beforeEach(async () => {
  double = await startDouble(() => ({
    status: 200,
    body: { messages: [{ messageId: `id-${++given}`, status: { groupId: 1 } }] },
  }));
});
afterEach(async () => {
  await world.disconnect();
  await double.close();
});

const describeIt = {
  url: '{{base}}/sms/3/messages',
  auth: { kind: 'header', name: 'Authorization', value: 'App {{secret:key}}' },
  json: {
    messages: [
      {
        sender: '{{from}}',
        content: { text: '{{text}}' },
        destinations: [{ to: '{{to|digits}}', messageId: '{{id}}' }],
        notify: '{{receipts_url}}',
        template: '{{template_id}}',
        validity: '{{validity|clamp:1:600|int}}',
      },
    ],
  },
  accepted: [{ status: [200], path: 'messages.0.status.groupId', in: [1, 3] }],
  id: 'messages.0.messageId',
  errors: [
    { path: 'messages.0.status.groupId', in: [2, 5], class: 'never', code: 'blocked_by_carrier' },
    { status: [429], class: 'throttled', after: 'header:Retry-After' },
  ],
  receipt: {
    list: 'results',
    id: 'messageId',
    to: 'to',
    verify: { kind: 'token' },
    state: { path: 'status.groupName', map: { DELIVERED: 'delivered', REJECTED: 'failed', PENDING: 'pending' } },
  },
};
const settings = () => ({ base: double.url, describe: describeIt, secrets: { key: 'key-Zq7' } });
const bodyOf = (request: GotRequest | undefined) => JSON.parse(request?.body ?? '{}').messages[0];

describe('a text by a description', () => {
  test('names the new address of its callback once an operator has renewed it', async () => {
    const { callbacks: before } = await world.connect(settings());
    const renewed = await world.operator.send('POST', '/portal/v1/operator/carriers/provider/renew-callbacks');
    assert.equal(renewed.status, 200, JSON.stringify(renewed.body));
    const { callbacks } = await world.read();
    assert.notEqual(callbacks?.receipts, before?.receipts);
    await eventually('a text names it', async () => {
      const { id } = await world.send();
      await world.untilStatus(id, 'sent');
      return bodyOf(double.requests.at(-1)).notify === callbacks?.receipts;
    });
  });

  test('leaves as one request, and the callback of its receipt makes it delivered', async () => {
    await world.connect(settings());
    const { id } = await world.send({ message: 'Say "hi" {{text}} & \\ ünï\n€' });
    await world.untilStatus(id, 'sent');
    const [request] = double.requests;
    assert.equal(double.requests.length, 1);
    assert.deepEqual(
      [request?.method, request?.path, request?.headers.authorization],
      ['POST', '/sms/3/messages', 'App key-Zq7'],
    );
    const { notify, validity, ...rest } = bodyOf(request);
    assert.deepEqual(rest, {
      sender: 'ACME',
      content: { text: 'Say "hi" {{text}} & \\ ünï\n€' },
      destinations: [{ to: '447700900123', messageId: id }],
    });
    assert.equal(validity, 600);
    const results = [{ messageId: `id-${given}`, to: '447700900123', status: { groupName: 'DELIVERED' } }];
    const answer = await fetch(notify, {
      method: 'POST',
      body: JSON.stringify({ results }),
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual([answer.status, await answer.text()], [200, '']);
    await world.untilStatus(id, 'delivered');
  });
});
