// Section 9 of the contract: Idempotency-Key on every POST that makes a message.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { exchange } from '../support/http.ts';
import { countMessages, createSender, type Refusal, type Sender, text } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createSender(app);
  eve = await createSender(app);
});
after(() => app.close());

interface Raw {
  status: number;
  headers: Headers;
  text: string;
}

/** Answers are compared byte for byte, so nothing is parsed here. */
async function post(path: string, body: unknown, headers: Record<string, string>): Promise<Raw> {
  const answer = await exchange(app.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, text: answer.body };
}

let keys = 0;
const newKey = () => `key-${++keys}`;
const sms = (key: string, body: unknown = text, who = acme) =>
  post('/sms/v1/messages', body, { ...who.key, 'Idempotency-Key': key });
const codeOf = ({ text }: Raw) => (JSON.parse(text) as Refusal).code;

describe('a replay', () => {
  test('gives the stored status and body, byte for byte, with Location and Idempotency-Replayed: true', async () => {
    const key = newKey();
    const first = await sms(key, { ...text, message: 'é 👋 "quoted"\n', reference: null });
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('idempotency-replayed'), null);
    app.clock.advance(1000);
    await app.delivery.workers()[0]?.runUntilIdle();
    const { id } = JSON.parse(first.text);
    assert.equal((await acme.readSms(id)).status, 'sent');
    const again = await sms(key, { ...text, message: 'é 👋 "quoted"\n', reference: null });
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.equal(again.headers.get('location'), first.headers.get('location'));
    assert.equal(again.headers.get('content-type'), first.headers.get('content-type'));
  });

  test('is found by another spelling of its path', async () => {
    const key = newKey();
    const first = await sms(key);
    const again = await post('/sms/v1/%6Dessages', text, { ...acme.key, 'Idempotency-Key': key });
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  });

  test('has fresh headers, counts against the limits, and sends nothing', async () => {
    const before = await countMessages(app, acme.id);
    const key = newKey();
    const first = await sms(key);
    const again = await sms(key);
    assert.notEqual(again.headers.get('x-correlation-id'), first.headers.get('x-correlation-id'));
    const remaining = ({ headers }: Raw) => Number(headers.get('ratelimit-remaining'));
    assert.equal(remaining(again), remaining(first) - 1);
    assert.equal(await countMessages(app, acme.id), before + 1);
  });

  test('a replay works on every POST: send, preview and batch, of both APIs', async () => {
    const body = { ...text, messages: [text, {}] };
    const before = await countMessages(app, acme.id);
    for (const [path, credential] of [
      ['/sms/v1/messages', acme.key],
      ['/sms/v1/messages/preview', acme.key],
      ['/messaging/v1/messages', acme.token],
      ['/messaging/v1/messages/preview', acme.token],
      ['/messaging/v1/messages/batch', acme.token],
    ] as const) {
      // The same key throughout: it holds for one path only.
      const headers = { ...credential, 'Idempotency-Key': 'on-every-post' };
      const first = await post(path, body, headers);
      assert.ok(first.status < 300, path);
      const again = await post(path, body, headers);
      assert.deepEqual([again.status, again.text], [first.status, first.text], path);
      assert.equal(again.headers.get('idempotency-replayed'), 'true', path);
      const other = await post(path, { ...body, message: 'other', messages: [text] }, headers);
      assert.deepEqual([other.status, codeOf(other)], [422, 'IDEMPOTENCY_KEY_REUSED'], path);
    }
    assert.equal(await countMessages(app, acme.id), before + 3);
  });

  test('quoted or bare, the key is the same; its case is not', async () => {
    const key = newKey();
    const first = await sms(`"${key}"`);
    assert.equal((await sms(key)).text, first.text);
    assert.notEqual((await sms(key.toUpperCase())).text, first.text);
  });

  test('of a JSON object whose properties come in another order is a replay: it is the same payload', async () => {
    const key = newKey();
    const first = await sms(key, '{"to":"+447700900123","from":"ACME","message":"Hello","x":{"a":1,"b":[1,2]}}');
    const again = await sms(
      key,
      ' { "x":{"b":[1,2],"a":1},"message":"Hel\\u006co","from":"ACME","to":"+447700900123"}',
    );
    assert.deepEqual([again.status, again.text], [201, first.text]);
    const other = await sms(key, '{"to":"+447700900123","from":"ACME","message":"Hello","x":{"a":1,"b":[2,1]}}');
    assert.equal(other.status, 422);
  });
});

describe('the key', () => {
  test('is per application and per path', async () => {
    const key = newKey();
    const answers = [await sms(key), await sms(key, text, eve)];
    answers.push(await post('/messaging/v1/messages', text, { ...acme.token, 'Idempotency-Key': key }));
    for (const { status, headers } of answers) {
      assert.ok(status < 300);
      assert.equal(headers.get('idempotency-replayed'), null);
    }
    assert.equal(new Set(answers.map(({ text }) => JSON.parse(text).id)).size, 3);
  });

  test('is 1 to 255 visible characters; 400 otherwise, and nothing is sent', async () => {
    const before = await countMessages(app, acme.id);
    for (const key of ['', '""', 'with space', '"with space"', 'x'.repeat(256), `"${'x'.repeat(256)}"`, 'é', 'a\tb']) {
      const answer = await sms(key);
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'INVALID_ARGUMENT'], key);
      assert.equal((JSON.parse(answer.text) as Refusal).details[0]?.field, 'idempotency-key');
    }
    assert.equal(await countMessages(app, acme.id), before);
    for (const key of ['x', 'x'.repeat(255), `"${'y'.repeat(255)}"`, '"', '!~']) {
      assert.equal((await sms(key)).status, 201, key);
    }
  });

  test('with another payload is 422 IDEMPOTENCY_KEY_REUSED, and nothing is sent', async () => {
    const key = newKey();
    await sms(key);
    const before = await countMessages(app, acme.id);
    for (const other of [
      { ...text, message: 'Hello ' },
      { ...text, reference: 'x' },
      { ...text, validity_seconds: 60 },
    ]) {
      const answer = await sms(key, other);
      assert.deepEqual([answer.status, codeOf(answer)], [422, 'IDEMPOTENCY_KEY_REUSED']);
      assert.equal(answer.headers.get('idempotency-replayed'), null);
    }
    assert.equal(await countMessages(app, acme.id), before);
    assert.equal((await sms(key)).status, 201);
  });

  test('is in use: 409 IDEMPOTENCY_IN_PROGRESS until the first is answered', async () => {
    const key = newKey();
    const lock = await app.db.database.openSession(() => {});
    await lock.query('begin');
    await lock.query('lock table message in access exclusive mode');
    const both = [sms(key), sms(key)];
    const sooner = await Promise.race(both);
    assert.deepEqual([sooner.status, codeOf(sooner)], [409, 'IDEMPOTENCY_IN_PROGRESS']);
    assert.equal((await sms(key, { ...text, message: 'other' })).status, 409);
    await lock.query('rollback');
    await lock.close();
    const made = (await Promise.all(both)).find(({ status }) => status === 201);
    assert.ok(made);
    assert.equal((await sms(key)).text, made.text);
  });
});

describe('never kept', () => {
  test('a key of a request that got 400, 413 or 415 may be used again for a valid request', async () => {
    const key = newKey();
    assert.equal((await sms(key, { ...text, to: 'x' })).status, 400);
    assert.equal((await sms(key, '{"to":')).status, 400);
    assert.equal((await sms(key, { ...text, message: 'x'.repeat(70_000) })).status, 413);
    const headers = { ...acme.token, 'Idempotency-Key': key };
    const fax = { ...text, channel: 'fax' };
    assert.equal(codeOf(await post('/messaging/v1/messages', fax, headers)), 'UNSUPPORTED_CHANNEL');
    assert.equal((await post('/messaging/v1/messages', text, headers)).status, 200);
    const right = await sms(key);
    assert.deepEqual([right.status, right.headers.get('idempotency-replayed')], [201, null]);
  });

  test('a key of a request that got 401, 403 or 429 may be used again', async () => {
    const key = newKey();
    const free = await createSender(app, { plan: 'free', apis: ['sms'] });
    assert.equal((await post('/sms/v1/messages', text, { apikey: 'x', 'Idempotency-Key': key })).status, 401);
    const verify = bearer(await getToken(app, acme.client, 'verify:manage'));
    const path = '/messaging/v1/messages';
    assert.equal((await post(path, text, { ...verify, 'Idempotency-Key': key })).status, 403);
    assert.equal((await post(path, text, { ...acme.token, 'Idempotency-Key': key })).status, 200);
    const refused: number[] = [];
    for (let i = 0; i < 61; i++) refused.push((await sms(i === 60 ? key : newKey(), text, free)).status);
    assert.equal(refused.at(-1), 429);
    app.clock.advance(60_000);
    const admitted = await sms(key, text, free);
    assert.deepEqual([admitted.status, admitted.headers.get('idempotency-replayed')], [201, null]);
  });

  test('what is nested more than 16 levels deep: 400, with a key and without', async () => {
    const deep = (levels: number) =>
      `${JSON.stringify(text).slice(0, -1)},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const answer = await sms(newKey(), deep(30_000));
    assert.deepEqual([answer.status, codeOf(answer)], [400, 'INVALID_ARGUMENT']);
    assert.equal((await sms(newKey(), deep(15))).status, 201);
    assert.equal((await sms(newKey(), deep(16))).status, 400);
    assert.equal((await post('/sms/v1/messages', deep(30_000), acme.key)).status, 400);
  });

  test('5xx: neither a record nor an answer stays, and the same key works when the service does', async () => {
    const key = newKey();
    const before = await countMessages(app, acme.id);
    await app.db.database.query("alter table message add constraint broken check (sender <> 'BROKEN')");
    const broken = await sms(key, { ...text, from: 'BROKEN' });
    await app.db.database.query('alter table message drop constraint broken');
    assert.deepEqual([broken.status, codeOf(broken)], [500, 'INTERNAL']);
    assert.equal(await countMessages(app, acme.id), before);
    const { status, headers } = await sms(key, { ...text, from: 'BROKEN' });
    assert.deepEqual([status, headers.get('idempotency-replayed')], [201, null]);
  });

  test('the payload: only as a keyed hash', async () => {
    const secret = 'a text that is in no kept request';
    await send(app, 'POST', '/sms/v1/messages/preview', {
      body: { message: secret },
      headers: { ...acme.key, 'Idempotency-Key': 'a-key-that-is-not-kept' },
    });
    const { rows } = await app.db.database.query('select * from idempotency');
    assert.ok(rows.length > 0);
    for (const needle of [secret, 'a-key-that-is-not-kept']) assert.ok(!JSON.stringify(rows).includes(needle));
  });
});

describe('a kept answer', () => {
  test('is encrypted: no number, no text and no proof of it stands in a row', async () => {
    const caller = await createVerifyCaller(app);
    // A test number, whose code is known without a phone.
    const [to, code] = ['+15005550107', '123456'];
    const { id } = (await caller.start({ to, channel: 'sms' })).body;
    const key = { 'Idempotency-Key': newKey() };
    const check = () => caller.send<{ proof: string }>('POST', `/verify/v1/verifications/${id}`, { code }, key);
    const { body } = await check();
    const { proof } = body;
    assert.match(proof, /^eyJ/);
    assert.deepEqual((await check()).body, body, 'a replay has the proof');
    const { rows } = await app.db.database.query(
      "select encode(sealed_body, 'escape') as body, i.* from idempotency i",
    );
    const dump = JSON.stringify(rows);
    for (const needle of [proof, proof.slice(0, 30), to, 'attempts_remaining'])
      assert.ok(!dump.includes(needle), needle);
  });
});

// Last, because the clock is turned so far that tokens expire.
describe('an answer', () => {
  test('is kept for 24 h and no longer', async () => {
    const key = newKey();
    const first = await sms(key);
    app.clock.advance(86_400_000 - 1);
    assert.equal((await sms(key)).text, first.text);
    app.clock.advance(1);
    const later = await sms(key, { ...text, message: 'another day' });
    assert.equal(later.status, 201);
    assert.notEqual(later.text, first.text);
    assert.equal((await sms(key, { ...text, message: 'another day' })).text, later.text);
  });
});
