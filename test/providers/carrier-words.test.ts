// What a provider said in its own words reaches the operator: in the attempt, the story, the test and the log.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { jsonCall, make } from './call.ts';
import { type Double, type GotRequest, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let double: Double;
let given = 0;
before(async () => {
  world = await createHttpCarrierWorld();
});
after(() => world.close());
beforeEach(async () => {
  double = await startDouble(() => ({ status: 200, body: { id: `id-${++given}` } }));
  await world.connect({
    base: double.url,
    describe: {
      url: '{{base}}/send',
      auth: { kind: 'bearer', value: '{{secret:key}}' },
      json: { to: '{{to}}', text: '{{text}}', id: '{{id}}', callback: '{{receipts_url}}' },
      accepted: [{ status: [200] }],
      id: 'id',
      errors: [{ status: [400], path: 'error.code', in: [30007], class: 'never', code: 'content_rejected' }],
      receipt: {
        id: 'id',
        verify: { kind: 'token' },
        state: { path: 'state', map: { ok: 'delivered', no: 'undelivered' } },
        error: { path: 'why', map: { 7: 'unreachable' } },
      },
    },
    secrets: { key: 'secret-k9' },
    timeout_ms: 1000,
    on_doubt: 'hold',
  });
});
afterEach(async () => {
  await world.disconnect();
  await double.close();
});

interface Shown {
  status: string;
  submits: { outcome: string; error: string | null; reported: string | null; receipt_reported: string | null }[];
  timeline: { detail: string }[];
}
async function shownAs(id: string, status: string): Promise<Shown> {
  const { developer, id: application } = world.sender;
  return eventually(`${id} to be ${status}`, async () => {
    const { body } = await developer.send<Shown>('GET', `/portal/v1/applications/${application}/messages/${id}`);
    return body.status === status && body;
  });
}
const path = '/portal/v1/operator/carriers/provider';
const newest = async () => {
  const { body } = await world.operator.send<{ data: { reported: string | null }[] }>('GET', `${path}/log`);
  return body.data[0]?.reported;
};
const bodyOf = (request: GotRequest | undefined) => JSON.parse(request?.body ?? '{}') as Record<string, string>;

async function lastStep(): Promise<string> {
  const report = await eventually('the test to end', async () => {
    const { body } = await world.operator.send<{ status: string; steps: { detail: string }[] }>(
      'GET',
      `${path}/test/${await testId}`,
    );
    return ['passed', 'failed'].includes(body.status) && body;
  });
  return report.steps.at(-1)?.detail ?? '';
}
let testId: Promise<string>;
async function beginTest(): Promise<void> {
  const asked = world.operator.send<{ id: string }>('POST', `${path}/test`, { to: '+447700900123', message: 'A test' });
  testId = asked.then(({ body }) => body.id);
  await testId;
}

describe('an answer', () => {
  for (const [what, answer, status, words] of [
    [
      'a code that the description knows',
      { status: 400, body: { error: { code: 30007 } } },
      'failed',
      'HTTP 400, 30007',
    ],
    ['a code that it does not know', { status: 422, body: { error: { code: 'E-12' } } }, 'failed', 'HTTP 422, E-12'],
    ['no code', { status: 422, body: 'no' }, 'failed', 'HTTP 422'],
    ['no usable answer', { status: 502, body: '<html>' }, 'unknown', 'HTTP 502'],
    [
      'an odd code',
      { status: 422, body: { error: { code: 'a\0\u001b[2J\ud800' } } },
      'failed',
      'HTTP 422, a??[2J\ufffd',
    ],
    [
      'a code that repeats a secret',
      { status: 422, body: { error: { code: 'key secret-k9 is wrong' } } },
      'failed',
      'HTTP 422',
    ],
    [
      'a long code',
      { status: 422, body: { error: { code: 'x'.repeat(9000) } } },
      'failed',
      `HTTP 422, ${'x'.repeat(32)}`,
    ],
  ] as const) {
    test(`${what}: an answer is in the attempt, the trace and the log`, async () => {
      double.faults.push(answer);
      const { id } = await world.send();
      const { submits, timeline } = await shownAs(id, status);
      assert.equal(submits[0]?.reported, words);
      assert.ok(timeline.some(({ detail }) => detail.includes(`(${words})`)));
      assert.equal(await newest(), words);
    });
  }

  test('the carrier’s words are in the result of a test', async () => {
    double.faults.push({ status: 400, body: { error: { code: 30007 } } });
    await beginTest();
    assert.equal(await lastStep(), 'The carrier refused the text: content_rejected (HTTP 400, 30007).');
  });
});

describe('a receipt', () => {
  test('the state and code of a receipt are in the trace of its text', async () => {
    const { id } = await world.send();
    await world.untilStatus(id, 'sent');
    const { callback = '' } = bodyOf(double.requests[0]);
    assert.equal((await make(jsonCall(callback, { id: `id-${given}`, state: 'no', why: 7 }))).status, 200);
    const { submits, timeline } = await shownAs(id, 'undelivered');
    assert.equal(submits[0]?.receipt_reported, 'no, 7');
    assert.ok(timeline.some(({ detail }) => detail.includes('Receipt: no, 7.')));
  });

  test('the carrier’s words are in the result of a test', async () => {
    await beginTest();
    await eventually('the request came', () => double.requests.length === 1);
    const { callback = '' } = bodyOf(double.requests[0]);
    assert.equal((await make(jsonCall(callback, { id: `id-${given}`, state: 'no', why: 99 }))).status, 200);
    assert.equal(await lastStep(), `Receipt of id-${given}: undelivered (no, 99).`);
  });
});
