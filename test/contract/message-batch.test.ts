// Section 8 of the contract: POST /messaging/v1/messages/batch.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { countMessages, createSender, type Refusal, type Sender, type TextRecord, text } from '../support/texts.ts';

const path = '/messaging/v1/messages/batch';

interface Batch {
  data: (TextRecord & { error: Refusal | null })[];
  summary: { accepted: number; rejected: number };
}

let app: TestApp;
let acme: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createSender(app);
});
after(() => app.close());

const post = (messages: unknown, headers: Record<string, string> = {}) =>
  send<Batch>(app, 'POST', path, { body: { messages }, headers: { ...acme.token, ...headers } });

describe('200 {data: in order, summary}', () => {
  test('one, and a hundred: each a record that can be read', async () => {
    for (const count of [1, 100]) {
      const { status, headers, body } = await post(
        Array.from({ length: count }, (_, i) => ({
          ...text,
          to: `+4477009${String(i).padStart(5, '0')}`,
          reference: `n${i}`,
        })),
      );
      assert.equal(status, 200);
      assert.equal(headers.get('location'), null);
      assert.deepEqual(Object.keys(body), ['data', 'summary']);
      assert.deepEqual(body.summary, { accepted: count, rejected: 0 });
      assert.deepEqual(
        body.data.map(({ reference }) => reference),
        Array.from({ length: count }, (_, i) => `n${i}`),
      );
      const last = body.data.at(-1);
      const read = await send(app, 'GET', `/messaging/v1/messages/${last?.id}`, { headers: acme.token });
      assert.deepEqual(read.body, last);
      assert.equal(new Set(body.data.map(({ id }) => id)).size, count);
    }
  });

  test('each is accepted or refused by itself, and a refusal says what a single send would', async () => {
    const before = await countMessages(app, acme.id);
    const items: unknown[] = [
      text,
      { ...text, to: 'x', from: '' },
      { ...text, channel: 'fax' },
      {},
      { ...text, smart_encoding: true, message: '“x”', validity_seconds: 60 },
      null,
      'text',
      [text],
      { ...text, message: 'x'.repeat(1531) },
      { ...text, channel: 'fax', to: 'x' },
      { ...text, reference: 'a\0b' },
      { ...text, send_at: new Date(app.clock.nowMs() + 60_000).toISOString(), unknown: 1 },
    ];
    const { status, body } = await post(items);
    assert.equal(status, 200);
    assert.deepEqual(body.summary, { accepted: 3, rejected: 9 });
    assert.equal(await countMessages(app, acme.id), before + 3);
    assert.deepEqual(
      body.data.map((each) => each.status ?? each.error?.code),
      ['queued', 'INVALID_ARGUMENT', 'UNSUPPORTED_CHANNEL', 'INVALID_ARGUMENT', 'queued', 'INVALID_ARGUMENT'].concat([
        'INVALID_ARGUMENT',
        'INVALID_ARGUMENT',
        'INVALID_ARGUMENT',
        'INVALID_ARGUMENT',
        'INVALID_ARGUMENT',
        'scheduled',
      ]),
    );
    assert.equal(body.data[4]?.message, '"x"');
    for (const [index, item] of items.entries()) {
      const inBatch = body.data[index];
      if (inBatch?.id !== undefined) continue;
      assert.deepEqual(Object.keys(inBatch ?? {}), ['error']);
      assert.deepEqual(Object.keys(inBatch?.error ?? {}), ['code', 'message', 'details']);
      assert.ok((inBatch?.error?.details.length ?? 0) > 0);
      if (typeof item !== 'object' || item === null || Array.isArray(item)) continue;
      const alone = await send<Refusal>(app, 'POST', '/messaging/v1/messages', { body: item, headers: acme.token });
      const { code, message, details } = alone.body;
      assert.deepEqual(inBatch?.error, { code, message, details });
    }
  });

  test('a batch with every text refused gets 200', async () => {
    const { status, body } = await post([{}, 5]);
    assert.deepEqual([status, body.summary], [200, { accepted: 0, rejected: 2 }]);
  });

  test('a text that is twice in a batch is sent twice', async () => {
    const { body } = await post([text, text]);
    assert.notEqual(body.data[0]?.id, body.data[1]?.id);
  });

  test('a batch is one request', async () => {
    const first = await post([text, text, text]);
    const second = await post([text, text, text]);
    const spent = Number(first.headers.get('ratelimit-remaining')) - Number(second.headers.get('ratelimit-remaining'));
    assert.equal(spent, 1);
  });
});

describe('refused as a whole', () => {
  test('400 for 0 and 101 messages, for what is no list, and for no body', async () => {
    const before = await countMessages(app, acme.id);
    for (const messages of [[], Array.from({ length: 101 }, () => text), text, 'x', null, undefined]) {
      const { status, body } = await post(messages);
      const { code, details } = body as unknown as Refusal;
      assert.deepEqual([status, code], [400, 'INVALID_ARGUMENT']);
      assert.equal(details[0]?.field, 'messages');
      assert.match(details[0]?.message ?? '', /1 to 100 messages/);
    }
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('413 PAYLOAD_TOO_LARGE over 64 KiB, and nothing of it is sent', async () => {
    const before = await countMessages(app, acme.id);
    const { status, body } = await post(Array.from({ length: 100 }, () => ({ ...text, message: 'x'.repeat(700) })));
    assert.deepEqual([status, (body as unknown as Refusal).code], [413, 'PAYLOAD_TOO_LARGE']);
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('the SMS API has no batch', async () => {
    const headers = acme.key;
    const answer = await send(app, 'POST', '/sms/v1/messages/batch', { body: { messages: [text] }, headers });
    assert.ok(answer.status === 404 || answer.status === 405);
  });
});
