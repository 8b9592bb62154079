// What happens when a provider, or the way to it, fails.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import type { Page, TextRecord } from '../support/texts.ts';
import { jsonCall, make } from './call.ts';
import { type Double, type GotRequest, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let double: Double;
let given = 0;
before(async () => {
  world = await createHttpCarrierWorld();
});
after(() => world.close());
const answer = () => ({ status: 200, body: { id: `id-${++given}` } });
beforeEach(async () => {
  double = await startDouble(answer);
});
afterEach(async () => {
  await world.disconnect();
  await double.close();
});

const describeIt = {
  url: '{{base}}/send',
  auth: { kind: 'bearer', value: '{{secret:key}}' },
  json: { to: '{{to}}', text: '{{text}}', id: '{{id}}', callback: '{{receipts_url}}' },
  accepted: [{ status: [200] }],
  id: 'id',
  receipt: {
    id: 'id',
    reference: 'ours',
    to: 'to',
    verify: { kind: 'token' },
    state: { path: 'state', map: { ok: 'delivered', no: 'undelivered' } },
  },
};
const connect = (changes: Record<string, unknown> = {}) =>
  world.connect({
    base: double.url,
    describe: describeIt,
    secrets: { key: 'k' },
    timeout_ms: 1000,
    on_doubt: 'hold',
    ...changes,
  });
const bodyOf = (request: GotRequest | undefined) => JSON.parse(request?.body ?? '{}') as Record<string, string>;
const bindOf = async () => (await world.read()).binds[0];
async function marks(id: string) {
  const { rows } = await world.app.db.database.query<{ attempt: number; duplicates: number }>(
    'select attempt, possible_duplicates as duplicates from message where id = $1',
    [uuidOf(id)],
  );
  return rows[0];
}

describe('no usable answer after the request has left: the text is in doubt', () => {
  for (const [what, fault] of [
    ['502', { status: 502, body: 'Bad gateway' }],
    ['500', { status: 500 }],
    ['silence', 'silent'],
    ['an answer that breaks off', 'broken'],
    ['a connection that breaks', 'reset'],
    ['200 and nothing to read', { status: 200, body: '<html>' }],
    ['an answer that is too long', { status: 200, body: `{"id":"${'x'.repeat(70_000)}"}` }],
  ] as const) {
    test(what, async () => {
      await connect();
      double.faults.push(fault);
      const { id } = await world.send();
      await world.untilStatus(id, 'unknown');
      assert.equal(double.requests.length, 1, 'it is not sent again');
    });
  }

  test('a receipt with our id settles it', async () => {
    await connect({ on_doubt_seconds: 3600 });
    double.faults.push({ status: 502 });
    const { id } = await world.send();
    await eventually('the request came', () => double.requests.length === 1);
    const { callback = '', to } = bodyOf(double.requests[0]);
    assert.equal((await make(jsonCall(callback, { id: 'x', ours: id, to, state: 'ok' }))).status, 200);
    await world.untilStatus(id, 'delivered');
  });

  test('sent again if the operator says so, and counted as a possible copy', async () => {
    await connect({ on_doubt: 'resend', on_doubt_seconds: 0 });
    double.faults.push({ status: 502 });
    const { id, possible_duplicates: atFirst } = await world.send();
    const { possible_duplicates: shown } = await world.untilStatus(id, 'sent');
    assert.equal(double.requests.length, 2);
    assert.equal((await marks(id))?.duplicates, 1);
    assert.deepEqual([atFirst, shown], [0, 1], 'the record shows it');
  });

  test('the record of the Messaging API shows the copy, too, and so does its list', async () => {
    await connect({ on_doubt: 'resend', on_doubt_seconds: 0 });
    double.faults.push({ status: 502 });
    const { token: headers } = world.sender;
    const { body: made } = await world.sender.messaging();
    assert.equal(made.possible_duplicates, 0);
    const path = '/messaging/v1/messages';
    const sent = await eventually('it was sent', async () => {
      const { body } = await send<TextRecord>(world.app, 'GET', `${path}/${made.id}`, { headers });
      return body.status === 'sent' && body;
    });
    const { body: page } = await send<Page<TextRecord>>(world.app, 'GET', `${path}?limit=1`, { headers });
    assert.deepEqual([sent.possible_duplicates, page.data[0]?.possible_duplicates], [1, 1]);
  });
});

describe('nothing has left', () => {
  test('a refused connection: the text waits, and is sent once when the provider is back', async () => {
    await connect();
    const port = Number(new URL(double.url).port);
    await double.close();
    const { id } = await world.send();
    const failing = await eventually('the carrier fails', async () => {
      const bind = await bindOf();
      return bind?.state === 'failing' && bind;
    });
    assert.match(failing.error ?? '', /refuses connections/);
    assert.equal((await world.sender.readSms(id)).status, 'queued');
    double = await startDouble(answer, port);
    await world.untilStatus(id, 'sent');
    assert.equal(double.requests.length, 1);
    assert.equal((await marks(id))?.duplicates, 0);
    await eventually('the carrier works', async () => (await bindOf())?.state === 'ready');
  });

  test('429: the text waits as long as the provider says, and nothing is in doubt', async () => {
    await connect();
    double.faults.push({ status: 429, headers: { 'Retry-After': '1' } });
    const { id } = await world.send();
    await world.untilStatus(id, 'sent');
    assert.equal(double.requests.length, 2);
    assert.deepEqual((await marks(id))?.duplicates, 0);
  });

  test('a redirect is not followed: the carrier stops, and its secret goes nowhere', async () => {
    const other = await startDouble(answer);
    await connect();
    double.always = { status: 307, headers: { Location: `${other.url}/send` } };
    await world.send();
    await eventually('the carrier fails', async () => (await bindOf())?.state === 'failing');
    assert.equal(other.requests.length, 0);
    await other.close();
  });

  test('a paused carrier sends nothing, and resumes', async () => {
    await connect();
    await world.operator.send('POST', '/portal/v1/operator/carriers/provider/pause');
    await eventually('the worker knows', async () => world.app.delivery.workers().length === 2);
    const { id } = await world.send();
    await world.operator.send('POST', '/portal/v1/operator/carriers/provider/resume');
    await world.untilStatus(id, 'sent');
  });
});

test('connections are used again, and there are no more than concurrency', async () => {
  await connect({ concurrency: 3 });
  const texts = await Promise.all(Array.from({ length: 30 }, () => world.send()));
  for (const { id } of texts) await world.untilStatus(id, 'sent');
  // A text that an earlier test left behind may come to this carrier, too.
  const ours = new Set(texts.map(({ id }) => id));
  assert.equal(double.requests.filter((request) => ours.has(bodyOf(request).id ?? '')).length, 30);
  assert.ok(double.connections <= 6, `${double.connections} connections for 30 texts, 3 at once`);
});

test('a callback without a signature must fit in our id and in the number', async () => {
  await connect();
  const { id } = await world.send();
  await world.untilStatus(id, 'sent');
  const { callback = '', to } = bodyOf(double.requests[0]);
  const say = (changes: object) =>
    make(jsonCall(callback, { id: `id-${given}`, ours: id, to, state: 'no', ...changes }));
  assert.equal((await say({ to: '+447700900555' })).status, 200);
  assert.equal((await say({ to: undefined })).status, 200);
  assert.equal((await say({ id: 'other', ours: 'msg_00000000000000000000000000' })).status, 200);
  assert.equal((await world.sender.readSms(id)).status, 'sent');
  assert.equal((await say({ state: 'ok' })).status, 200);
  await world.untilStatus(id, 'delivered');
});

test('callbacks: 404 for another name or token, 400 for what cannot be read, 405 for another method', async () => {
  const { callbacks } = await connect();
  const url = callbacks?.receipts ?? '';
  assert.equal((await make(jsonCall(url.replace('/provider/', '/other/'), {}))).status, 404);
  assert.equal((await make(jsonCall(`${url}0`, {}))).status, 404);
  assert.equal(
    (await make(jsonCall(callbacks?.inbound ?? '', {}))).status,
    404,
    'this description takes no inbound texts',
  );
  assert.equal((await make({ method: 'POST', url, headers: {}, body: 'nonsense' })).status, 400);
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 405);
  assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(1_100_000) })).status, 413);
  const inbound = callbacks?.inbound ?? '';
  assert.equal((await fetch(inbound, { method: 'POST', body: 'x'.repeat(70_000) })).status, 413);
});

test('the test of a carrier shows its steps, and waits for the receipt that comes by HTTP', async () => {
  await connect();
  const body = { to: '+447700900123' };
  const started = await world.operator.send<{ id: string }>('POST', '/portal/v1/operator/carriers/provider/test', body);
  assert.equal(started.status, 202);
  await eventually('the text came', () => double.requests.length === 1);
  const { callback = '', to } = bodyOf(double.requests[0]);
  await make(jsonCall(callback, { id: `id-${given}`, to, state: 'ok' }));
  const path = `/portal/v1/operator/carriers/provider/test/${started.body.id}`;
  interface Test {
    status: string;
    steps: { step: string; ok: boolean }[];
  }
  const done = await eventually('the test ends', async () => {
    const { body: found } = await world.operator.send<Test>('GET', path);
    return (found.status === 'passed' || found.status === 'failed') && found;
  });
  assert.equal(done.status, 'passed', JSON.stringify(done.steps));
  assert.deepEqual(
    done.steps.map(({ step }) => step),
    ['name', 'connection', 'tls', 'text', 'receipt'],
  );
});
