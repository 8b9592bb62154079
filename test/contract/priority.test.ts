// `priority` of a send (sections 7, 8 and 14 of the contract), and the operator who allows it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { countMessages, createSender, type Refusal, type Sender, type TextRecord, text } from '../support/texts.ts';

interface Batch {
  data: (TextRecord & { error: Refusal | null })[];
  summary: { accepted: number; rejected: number };
}

const first = 0;
const bulk = 1;

const sendBatch = (app: TestApp, sender: Sender, items: object[]) =>
  send<Batch>(app, 'POST', '/messaging/v1/messages/batch', {
    body: { messages: items.map((item) => ({ ...text, ...item })) },
    headers: sender.token,
  });

/** The lane of a text that waits to be sent. */
async function laneOf(app: TestApp, id: string): Promise<number | undefined> {
  const { rows } = await app.db.database.query<{ lane: number }>(
    `select lane from delivery_queue where message_id = $1
     union all select lane from delivery_schedule where message_id = $1`,
    [uuidOf(id)],
  );
  return rows[0]?.lane;
}

const problemsOf = (answer: Answer<TextRecord>) => (answer.body as unknown as Refusal).details;

describe('in the sandbox', () => {
  let app: TestApp;
  let acme: Sender;
  before(async () => {
    app = await createTestApp({ delivery: 'held' });
    acme = await createSender(app);
  });
  after(() => app.close());

  test('every application may use high priority, and the record has the usual fields', async () => {
    for (const sendText of [acme.sms, acme.messaging]) {
      const [plain, normal, high] = [
        await sendText(),
        await sendText({ priority: 'normal' }),
        await sendText({ priority: 'high' }),
      ];
      assert.equal(high.status, plain.status);
      assert.deepEqual(Object.keys(high.body), Object.keys(plain.body));
      const lanes = [];
      for (const { body } of [plain, normal, high]) lanes.push(await laneOf(app, body.id));
      assert.deepEqual(lanes, [bulk, bulk, first]);
    }
  });

  test('a scheduled text keeps it', async () => {
    const send_at = new Date(app.clock.nowMs() + 60_000).toISOString();
    const { body } = await acme.sms({ priority: 'high', send_at });
    assert.deepEqual([body.status, await laneOf(app, body.id)], ['scheduled', first]);
  });

  test('each text of a batch has its own', async () => {
    const { body } = await sendBatch(app, acme, [
      {},
      { priority: 'high' },
      { priority: 'low' },
      { priority: 'normal' },
    ]);
    assert.deepEqual(body.summary, { accepted: 3, rejected: 1 });
    assert.deepEqual(body.data[2]?.error?.details, [{ field: 'priority', message: 'must be normal or high' }]);
    const lanes = [];
    for (const place of [0, 1, 3]) lanes.push(await laneOf(app, body.data[place]?.id ?? ''));
    assert.deepEqual(lanes, [bulk, first, bulk]);
  });

  test('any other value is a 400 that names the field, among other bad fields too, and nothing is kept', async () => {
    const before = await countMessages(app, acme.id);
    for (const sendText of [acme.sms, acme.messaging]) {
      for (const priority of ['', 'HIGH', 'low', 'x'.repeat(10_000), 1, true, null, ['high'], { high: true }]) {
        const answer = await sendText({ priority });
        assert.equal(answer.status, 400, JSON.stringify(priority));
        assert.deepEqual(problemsOf(answer), [{ field: 'priority', message: 'must be normal or high' }]);
      }
      const fields = problemsOf(await sendText({ priority: 'low', to: 'x' })).map(({ field }) => field);
      assert.deepEqual(new Set(fields), new Set(['priority', 'to']));
    }
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('a preview has none: it ignores the field, as all that it does not know', async () => {
    const body = { message: 'Hello', priority: 'low' };
    assert.equal((await send(app, 'POST', '/sms/v1/messages/preview', { body, headers: acme.key })).status, 200);
  });

  test('an Idempotency-Key is for one priority; normal is what no word means', async () => {
    const key = { 'Idempotency-Key': 'one-priority' };
    const made = await acme.sms({}, key);
    assert.equal((await acme.sms({ priority: 'normal' }, key)).body.id, made.body.id);
    const other = await acme.sms({ priority: 'high' }, key);
    assert.deepEqual([other.status, (other.body as unknown as Refusal).code], [422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('a queued text of high priority is listed and can be canceled', async () => {
    const { body: made } = await acme.sms({ priority: 'high', to: '+447700900777' });
    const list = await send<{ data: TextRecord[] }>(app, 'GET', '/sms/v1/messages?status=queued', {
      headers: acme.key,
    });
    assert.equal(list.body.data[0]?.id, made.id);
    const canceled = await send(app, 'DELETE', `/sms/v1/messages/${made.id}`, { headers: acme.key });
    assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
    assert.equal(await laneOf(app, made.id), undefined);
  });

  test('OpenAPI lists both values for a send and for the texts of a batch', async () => {
    const { body } = await send<{ components: { schemas: Record<string, unknown> } }>(app, 'GET', '/openapi.json');
    const { SmsToSend, MessageToSend, SendMessagesRequest, BatchedMessage, TextToPreview } = body.components.schemas;
    for (const schema of [SmsToSend, MessageToSend]) {
      assert.match(JSON.stringify(schema), /"priority":\{[^}]*"enum":\["normal","high"\]/);
    }
    assert.match(JSON.stringify(SendMessagesRequest), /schemas\/BatchedMessage/);
    assert.match(JSON.stringify(BatchedMessage), /"priority":\{[^}]*normal, or high/);
    assert.doesNotMatch(JSON.stringify(TextToPreview), /"priority"/);
  });
});

describe('in production', () => {
  let app: TestApp;
  let other: TestApp;
  let operator: TestDeveloper;
  let acme: Sender;
  const options = { env: { HELIOGRAPH_ENV: 'production', HELIOGRAPH_SENDERS: 'open' }, delivery: 'held' } as const;
  before(async () => {
    app = await createTestApp(options);
    other = await createTestApp({ ...options, db: app.db, clock: app.clock });
    operator = await createOperator(app);
    acme = await createSender(app, { operator });
    const settings = { host: '127.0.0.1', system_id: 'me' };
    await operator.send('POST', '/portal/v1/operator/carriers', { name: 'acme', kind: 'smpp', settings });
    await eventually('both nodes know the carrier', async () => {
      const answers = [await acme.sms(), await smsOf(other)];
      return answers.every(({ status }) => status === 201);
    });
  });
  after(async () => {
    await other.close();
    await app.close();
  });

  const smsOf = (node: TestApp, given: object = {}) =>
    send<TextRecord>(node, 'POST', '/sms/v1/messages', { body: { ...text, ...given }, headers: acme.key });
  const decide = (word: 'allow' | 'deny', id = acme.id, by: Pick<TestDeveloper, 'send'> = operator) =>
    by.send('POST', `/portal/v1/operator/applications/${id}/${word}-high-priority`);
  const refusal = {
    field: 'priority',
    message: 'must be normal: an operator must allow high priority to this application first',
  };

  test('400 until an operator allows it, and nothing is kept; normal texts are sent', async () => {
    const before = await countMessages(app, acme.id);
    const key = { 'Idempotency-Key': 'refused' };
    for (const sendText of [acme.sms, acme.messaging]) {
      const answer = await sendText({ priority: 'high' }, key);
      const { code, details } = answer.body as unknown as Refusal;
      assert.deepEqual([answer.status, code, details], [400, 'INVALID_ARGUMENT', [refusal]]);
      assert.ok((await sendText({ priority: 'normal' }, key)).status < 300, 'the key is free');
    }
    const { body } = await sendBatch(app, acme, [{ priority: 'high' }, { priority: 'normal' }]);
    assert.deepEqual(body.summary, { accepted: 1, rejected: 1 });
    assert.deepEqual(body.data[0]?.error?.details, [refusal]);
    assert.equal(await countMessages(app, acme.id), before + 3);
  });

  test('what an operator decides holds on every node at once, for keys and tokens', async () => {
    const statuses = async () => {
      const answers = [
        await acme.sms({ priority: 'high' }),
        await smsOf(other, { priority: 'high' }),
        await acme.messaging({ priority: 'high' }),
      ];
      return answers.map(({ status }) => status);
    };
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await statuses(), [400, 400, 400]);
      const allowed = await decide('allow');
      assert.deepEqual([allowed.status, Object.keys(allowed.body)], [200, ['id', 'name', 'high_priority']]);
      assert.deepEqual([allowed.body.id, allowed.body.high_priority], [acme.id, true]);
      assert.deepEqual(await statuses(), [201, 201, 200]);
      assert.equal((await decide('deny')).body.high_priority, false);
    }
    assert.deepEqual(await statuses(), [400, 400, 400]);
  });

  test('it is of one application, and may be said twice', async () => {
    const neighbour = await createSender(app, { operator });
    for (let times = 0; times < 2; times++) assert.equal((await decide('allow', neighbour.id)).status, 200);
    assert.equal((await acme.sms({ priority: 'high' })).status, 400);
    for (let times = 0; times < 2; times++) assert.equal((await decide('deny', neighbour.id)).status, 200);
  });

  test('an answer that is kept is repeated, also when it is denied meanwhile', async () => {
    const key = { 'Idempotency-Key': 'kept' };
    await decide('allow');
    const made = await acme.sms({ priority: 'high' }, key);
    assert.equal(await laneOf(app, made.body.id), first);
    await decide('deny');
    const again = await acme.sms({ priority: 'high' }, key);
    assert.deepEqual([again.status, again.body.id], [201, made.body.id]);
  });

  test('404 for an application that there is not, and for everyone who is no operator', async () => {
    for (const id of ['app_01jcq0000000000000000000zz', 'x', '%00', acme.id.toUpperCase()]) {
      assert.equal((await decide('allow', id)).status, 404, id);
    }
    for (const word of ['allow', 'deny'] as const) {
      assert.equal((await decide(word, acme.id, acme.developer)).status, 404);
      assert.equal(
        (await send(app, 'POST', `/portal/v1/operator/applications/${acme.id}/${word}-high-priority`)).status,
        404,
      );
    }
    assert.equal((await acme.sms({ priority: 'high' })).status, 400);
  });
});
