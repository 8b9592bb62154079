// Every call of the client, against the real service.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HeliographError, type Message, SignatureError, verifyProof, verifyWebhook } from '@heliograph/client';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, revokeToken, type TestApplication } from '../support/applications.ts';
import { createClient, errorOf, type ObservedClient } from '../support/client.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createWebhookReceiver } from '../support/webhook-receiver.ts';

const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const testNumber = '+15005550100';

let app: TestApp;
let acme: TestApplication;
let observed: ObservedClient;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
  observed = createClient(app, acme);
});
after(() => app.close());

async function refusal(work: Promise<unknown>): Promise<HeliographError> {
  const error = await errorOf(work);
  assert.ok(error instanceof HeliographError, String(error));
  return error;
}

async function collect<Item>(items: AsyncIterable<Item>, most = 1000): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length >= most) break;
  }
  return collected;
}

describe('texts', () => {
  test('are sent, read, listed, canceled and previewed, by both APIs', async () => {
    const { sms, messaging } = observed.heliograph;
    for (const [api, reference] of [
      [sms, 'by key'],
      [messaging, 'by token'],
    ] as const) {
      const sent = await api.send({ ...text, reference });
      assert.match(sent.id, /^msg_/);
      assert.equal((await api.get(sent.id)).reference, reference);
      const later = new Date(Date.now() + 3_600_000).toISOString();
      const { id } = await api.send({ ...text, reference, send_at: later });
      assert.equal((await api.cancel(id)).status, 'canceled');
      assert.equal((await refusal(api.cancel(id))).code, 'INCOMPATIBLE_STATE');
      const listed = await collect(api.list({ reference }));
      assert.deepEqual(
        listed.map((each) => each.id),
        [id, sent.id],
      );
      assert.equal((await api.preview('Grüße 👋')).segments.encoding, 'UCS-2');
    }
  });

  test('a batch returns each of its texts', async () => {
    const { data, summary } = await observed.heliograph.messaging.sendBatch([text, { ...text, to: '12' }]);
    assert.deepEqual(summary, { accepted: 1, rejected: 1 });
    assert.match((data[0] as Message).id, /^msg_/);
    assert.ok(data[1] !== undefined && 'error' in data[1], 'the second is refused');
  });

  test('a list is read page by page, and only as far as it is needed', async () => {
    const { heliograph, sent } = createClient(app, acme);
    const wanted = Array.from({ length: 5 }, (_, index) => ({
      ...text,
      reference: `page ${index}`,
      to: '+447700900777',
    }));
    for (const each of wanted) await heliograph.sms.send(each);
    sent.length = 0;
    const list = heliograph.sms.list({ to: '+447700900777', limit: 2 });
    const references = (await collect(list)).map(({ reference }) => reference);
    assert.deepEqual(references, wanted.map(({ reference }) => reference).reverse());
    assert.equal(sent.length, 3, 'pages');
    assert.equal((await collect(list, 1)).length, 1);
    assert.equal(sent.length, 4, 'a loop that is left reads no further');
    const first = await list.page();
    assert.equal((await list.page(first.next_cursor ?? '')).data[0]?.reference, 'page 2');
  });

  test('opt-outs and texts from phones', async () => {
    const { optOuts, inbound } = observed.heliograph.sms;
    const number = '+447700900555';
    assert.equal((await optOuts.put(number)).number, number);
    assert.deepEqual(
      (await collect(optOuts.list({ to: number }))).map((each) => each.number),
      [number],
    );
    assert.equal((await observed.heliograph.sms.send({ ...text, to: number })).error?.code, 'blocked_by_recipient');
    assert.equal(await optOuts.remove(number), undefined);
    assert.deepEqual(await collect(optOuts.list({ to: number })), []);
    const operator = await createOperator(app);
    const own = '+447800900001';
    const given = await operator.send('PUT', `/portal/v1/operator/numbers/${encodeURIComponent(own)}`, {
      application_id: acme.id,
    });
    assert.equal(given.status, 200);
    const body = { from: number, to: own, message: 'Where is my order?' };
    const headers = { apikey: acme.apiKey };
    assert.equal((await send(app, 'POST', '/sandbox/v1/inbox/replies', { body, headers })).status, 201);
    const [received] = await collect(inbound.list({ from: number }));
    assert.equal(received?.message, body.message);
    assert.deepEqual(await inbound.get(received?.id ?? ''), received);
  });

  test('an id cannot lead to another address', async () => {
    const { sms } = observed.heliograph;
    for (const id of ['', '.', '..']) assert.ok((await errorOf(asyncCall(() => sms.get(id)))) instanceof TypeError, id);
    assert.equal((await refusal(sms.get('../../verify/v1'))).status, 404);
    assert.equal((await refusal(sms.get('msg_?x#y%'))).status, 404);
  });
});

async function asyncCall(act: () => Promise<unknown>): Promise<unknown> {
  return act();
}

describe('verifications', () => {
  test('are started, checked, read, listed and canceled; the guard explains', async () => {
    const { verify } = observed.heliograph;
    const started = await verify.start({ to: testNumber, reference: 'sign-up' });
    assert.deepEqual([started.status, started.sent], ['pending', true]);
    const wrong = await verify.check(started.id, '000000');
    assert.deepEqual([wrong.valid, wrong.reason, wrong.attempts_remaining], [false, 'incorrect_code', 4]);
    const right = await verify.check(started.id, '123456');
    assert.deepEqual([right.valid, right.status], [true, 'approved']);
    assert.equal((await refusal(verify.check(started.id, '123456'))).code, 'VERIFICATION_ALREADY_APPROVED');
    assert.equal((await verify.get(started.id)).status, 'approved');
    const other = await verify.start({ to: '+15005550101', reference: 'sign-up' });
    assert.equal((await verify.cancel(other.id)).reason, 'canceled_by_client');
    const listed = await collect(verify.list({ reference: 'sign-up' }));
    assert.deepEqual(
      listed.map(({ id }) => id),
      [other.id, started.id],
    );
    assert.equal((await verify.explain('+447700900123')).decision, 'allow');
  });

  test('a proof is believed for its application only, until it expires, and only as it is', async () => {
    const { heliograph, sent } = createClient(app, acme);
    const started = await heliograph.verify.start({ to: '+15005550102' });
    const { proof = '' } = await heliograph.verify.check(started.id, '123456');
    sent.length = 0;
    const [said] = await Promise.all(
      Array.from({ length: 5 }, () => heliograph.verifyProof(proof, { audience: acme.id })),
    );
    assert.deepEqual([said?.phone_number, said?.sub], ['+15005550102', started.id]);
    assert.equal(sent.length, 2, 'keys and issuer are read once');
    const [head = '', claims = '', signature = ''] = proof.split('.');
    const alter = (part: string, change: object) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...change })).toString(
        'base64url',
      );
    const bad: Record<string, string> = {
      'other claims': `${head}.${alter(claims, { phone_number: '+15005550103' })}.${signature}`,
      'no algorithm': `${alter(head, { alg: 'none' })}.${claims}.`,
      'another algorithm': `${alter(head, { alg: 'RS256' })}.${claims}.${signature}`,
      'a name of every object': `${alter(head, { alg: 'constructor' })}.${claims}.${signature}`,
      'an unknown key': `${alter(head, { kid: 'other' })}.${claims}.${signature}`,
      'another type': `${alter(head, { typ: 'at+jwt' })}.${claims}.${signature}`,
      'one part more': `${proof}.x`,
      'no signature': `${head}.${claims}.`,
      'not base64': `${head}.${claims}.§`,
      'not JSON': 'a.b.c',
      'much too long': `${head}.${claims}.${'A'.repeat(10_000)}`,
      empty: '',
    };
    for (const [name, each] of Object.entries(bad)) {
      const error = await errorOf(heliograph.verifyProof(each, { audience: acme.id }));
      assert.ok(error instanceof SignatureError, `${name}: ${error}`);
    }
    assert.equal(sent.length, 2, 'an unknown key does not make it fetch the keys again at once');
    const elsewhere = await errorOf(heliograph.verifyProof(proof, { audience: 'app_other' }));
    assert.match(String(elsewhere), /another application/);
    const late = await errorOf(heliograph.verifyProof(proof, { audience: acme.id, nowMs: (said?.exp ?? 0) * 1000 }));
    assert.match(String(late), /expired/);
    assert.ok((await errorOf(heliograph.verifyProof(proof, { audience: '' }))) instanceof TypeError, 'no audience');
  });

  test('a proof for one payment never verifies another', async () => {
    const { heliograph } = createClient(app, acme);
    const ten = { amount: '10.00', currency: 'EUR', payee: 'Acme Shop' };
    const started = await heliograph.verify.start({ to: '+15005550105', payment: ten });
    assert.deepEqual(started.payment, ten);
    const hundred = { ...ten, amount: '100.00' };
    const refused = await errorOf(heliograph.verify.check(started.id, '123456', { payment: hundred }));
    assert.ok(refused instanceof HeliographError && refused.status === 400, String(refused));
    const { proof = '' } = await heliograph.verify.check(started.id, '123456', { payment: ten });
    const by = { audience: acme.id };
    const said = await heliograph.verifyProof(proof, { ...by, payment: { ...ten, amount: '10' } });
    assert.deepEqual([said.payment, said.amr], [ten, ['otp', 'sms']]);
    for (const payment of [
      hundred,
      { ...ten, currency: 'USD' },
      { ...ten, payee: 'Other' },
      { ...ten, amount: '1000' },
    ]) {
      const error = await errorOf(heliograph.verifyProof(proof, { ...by, payment }));
      assert.ok(error instanceof SignatureError, String(error));
      const alone = await errorOf(verifyProof(proof, { ...by, baseUrl: app.url, payment }));
      assert.ok(alone instanceof SignatureError, String(alone));
    }
    const wrong = await errorOf(heliograph.verifyProof(proof, { ...by, payment: { ...ten, amount: 10 as never } }));
    assert.ok(wrong instanceof TypeError, String(wrong));
    const other = await heliograph.verify.start({ to: '+15005550106' });
    const { proof: plain = '' } = await heliograph.verify.check(other.id, '123456');
    const none = await errorOf(heliograph.verifyProof(plain, { ...by, payment: ten }));
    assert.match(String(none), /another payment/);
  });

  test('a proof is checked without a client and without a credential', async () => {
    const { heliograph } = createClient(app, acme);
    const started = await heliograph.verify.start({ to: '+15005550104' });
    const { proof = '' } = await heliograph.verify.check(started.id, '123456');
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      asked.push(String(input));
      assert.equal(new Headers(init?.headers).get('authorization'), null);
      return fetch(input, init);
    };
    const by = { audience: acme.id, baseUrl: app.url, fetch: counting };
    const all = await Promise.all(Array.from({ length: 5 }, () => verifyProof(proof, by)));
    assert.deepEqual([all[0]?.sub, all[4]?.phone_number], [started.id, '+15005550104']);
    assert.equal(asked.length, 2, 'keys and issuer are read once');
    for (const [wrong, says] of [
      [{ ...by, audience: 'app_other' }, /another application/],
      [{ ...by, nowMs: (all[0]?.exp ?? 0) * 1000 }, /expired/],
      [{ ...by, baseUrl: 'ftp://x' }, /baseUrl/],
      [{ ...by, realm: 'other' }, /404|[Nn]ot found/],
      [{ ...by, timeoutMs: -1 }, /timeoutMs/],
    ] as const)
      assert.match(String(await errorOf(verifyProof(proof, wrong))), says);
    assert.ok((await errorOf(verifyProof(`${proof}x`, by))) instanceof SignatureError);
  });
});

describe('tokens', () => {
  test('one token request serves all that wait; an abort of one does not end it for the others', async () => {
    const { heliograph, tokenRequests } = createClient(app, acme);
    const leaving = new AbortController();
    const left = errorOf(heliograph.verify.explain(testNumber, { signal: leaving.signal }));
    const others = Array.from({ length: 50 }, () => heliograph.verify.explain(testNumber));
    leaving.abort(new Error('changed my mind'));
    assert.match(String(await left), /changed my mind/);
    assert.equal((await Promise.all(others)).length, 50);
    assert.equal(tokenRequests(), 1);
    await heliograph.messaging.preview('Hello');
    assert.equal(tokenRequests(), 2, 'another API has its own');
  });

  test('a revoked one is replaced once, by one request', async () => {
    const { heliograph, sent, tokenRequests } = createClient(app, acme);
    await heliograph.verify.explain(testNumber);
    const token = sent.at(-1)?.headers.get('authorization')?.slice('Bearer '.length) ?? '';
    await revokeToken(app, acme.client, token);
    await Promise.all(Array.from({ length: 20 }, () => heliograph.verify.explain(testNumber)));
    assert.equal(tokenRequests(), 2);
  });

  test('a wrong secret fails at once, and the error does not repeat it', async () => {
    const wrong = { apiKey: 'hg_sandbox_wrong_key', client: { ...acme.client, client_secret: 'wrong-secret' } };
    const { heliograph, sent } = createClient(app, wrong);
    const error = await refusal(heliograph.verify.explain(testNumber));
    assert.deepEqual([error.status, error.code], [401, 'invalid_client']);
    assert.equal((await refusal(heliograph.sms.preview('Hello'))).code, 'UNAUTHENTICATED');
    assert.equal(sent.length, 2, 'nothing is sent again');
    assert.ok(!JSON.stringify([error, heliograph]).includes('wrong-'), 'no secret is shown');
  });

  test('an API without its credential says which one it needs', async () => {
    const { heliograph } = createClient(app, { apiKey: '', client: { client_id: '', client_secret: '' } });
    await assert.rejects(heliograph.sms.preview('Hello'), /needs apiKey/);
    for (let again = 0; again < 2; again++)
      await assert.rejects(heliograph.verify.explain(testNumber), /needs clientId and clientSecret/);
  });
});

describe('errors', () => {
  test('carry status, code, every bad field and the correlation id', async () => {
    const error = await refusal(observed.heliograph.sms.send({ to: '1', from: '', message: '' }));
    assert.deepEqual([error.status, error.code], [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(error.details.map(({ field }) => field).sort(), ['from', 'message', 'to']);
    assert.match(error.correlationId ?? '', /^[\w.-]{8,}$/);
    assert.equal(error.retryAfterSeconds, null);
  });

  test('a key of the caller makes two calls one; with another payload it is refused', async () => {
    const { sms } = observed.heliograph;
    const idempotencyKey = 'order-7-shipped';
    const [one, two] = [await sms.send(text, { idempotencyKey }), await sms.send(text, { idempotencyKey })];
    assert.equal(one.id, two.id);
    const error = await refusal(sms.send({ ...text, message: 'Other' }, { idempotencyKey }));
    assert.equal(error.code, 'IDEMPOTENCY_KEY_REUSED');
    for (const bad of ['', 'a b', 'x\r\nApikey: y', 'ü', 'x'.repeat(256)])
      await assert.rejects(async () => sms.send(text, { idempotencyKey: bad }), TypeError, bad);
  });
});

describe('events', () => {
  test('are followed from a cursor or from now, and resumed behind any event without a gap or a repeat', async () => {
    const { heliograph, sent } = createClient(app, await createRegistered(app, ['sms'], 'enterprise'));
    const { next_cursor: cursor } = await heliograph.sms.events.read();
    const stop = new AbortController();
    const fromNow: string[] = [];
    const following = (async () => {
      for await (const { id } of heliograph.sms.events.follow({ signal: stop.signal })) fromNow.push(id);
    })();
    const count = 20;
    await eventually('it has its place', () => sent.some(({ path }) => path.includes('wait_seconds=20')));
    const first = await heliograph.sms.send({ ...text, reference: 'feed begins' });
    for (let index = 0; index < count; index++) await heliograph.sms.send({ ...text, reference: `feed ${index}` });
    const wanted = (count + 1) * 2;
    const all = await collect(heliograph.sms.events.follow({ cursor }), wanted);
    assert.equal(new Set(all.map(({ id }) => id)).size, wanted);
    const resumed = await collect(heliograph.sms.events.follow({ cursor: all[9]?.id }), wanted - 10);
    assert.deepEqual(resumed, all.slice(10));
    const ofOne = await collect(heliograph.sms.events.follow({ cursor, subject: first.id }), 2);
    assert.deepEqual(
      ofOne.map(({ type }) => type),
      ['message.sent', 'message.delivered'],
    );
    await eventually('the loop from now has seen them', () => fromNow.length >= wanted);
    stop.abort(new Error('enough'));
    await assert.rejects(following, /enough/);
    assert.deepEqual(
      fromNow,
      all.map(({ id }) => id),
    );
  });

  test('a cursor that is no cursor is refused', async () => {
    assert.equal(
      (await refusal(collect(observed.heliograph.sms.events.follow({ cursor: 'x' })))).code,
      'INVALID_ARGUMENT',
    );
  });
});

test('webhooks of the service verify, byte for byte, with the right secret only', async () => {
  const receiver = await createWebhookReceiver();
  const path = `/portal/v1/applications/${acme.id}/webhooks`;
  const made = await acme.developer.send<{ id: string; secret: string }>('POST', path, { url: receiver.url });
  const { secret } = made.body;
  const { id } = await observed.heliograph.sms.send({ ...text, message: 'Grüße 👋', reference: 'ordré' });
  await eventually('the webhook is called', () => receiver.calls.some(({ event }) => event.subject === id));
  const call = receiver.calls.find(({ event }) => event.subject === id);
  assert.ok(call !== undefined, 'the call');
  const { headers, body } = call;
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const bytes = new TextEncoder().encode(body);
  for (const given of [body, Buffer.from(body), Buffer.from(`x${body}`).subarray(1), bytes, bytes.buffer]) {
    for (const each of [secret, [other, secret], [secret, other]])
      assert.deepEqual(await verifyWebhook(headers, given, each), JSON.parse(body));
  }
  const asFetch = new Headers(headers as Record<string, string>);
  assert.equal((await verifyWebhook(asFetch, body, secret)).subject, id);
  const sentAtMs = Number(headers['webhook-timestamp']) * 1000;
  const refuse = async (name: string, work: Promise<unknown>) =>
    assert.ok((await errorOf(work)) instanceof SignatureError, name);
  await refuse('another secret', verifyWebhook(headers, body, other));
  await refuse('another body', verifyWebhook(headers, `${body} `, secret));
  await refuse(
    'invalid UTF-8',
    verifyWebhook(headers, Buffer.concat([Buffer.from(body), Buffer.from([0xff])]), secret),
  );
  await refuse('late', verifyWebhook(headers, body, secret, { nowMs: sentAtMs + 301_000 }));
  await refuse('early', verifyWebhook(headers, body, secret, { nowMs: sentAtMs - 301_000 }));
  await refuse('no tolerance', verifyWebhook(headers, body, secret, { toleranceSeconds: Number.NaN }));
  await refuse('no headers', verifyWebhook({}, body, secret));
  await refuse('another id', verifyWebhook({ ...headers, 'webhook-id': 'evt_x' }, body, secret));
  await refuse('two ids', verifyWebhook({ ...headers, 'Webhook-Id': 'evt_x' }, body, secret));
  await refuse('no v1', verifyWebhook({ ...headers, 'webhook-signature': 'v2,AAAA v1, v1,§' }, body, secret));
  for (const wrong of ['', 'whsec_', 'whsec_§', 'secret', [], undefined as unknown as string])
    assert.ok((await errorOf(verifyWebhook(headers, body, wrong))) instanceof TypeError, String(wrong));
  const parsed = JSON.parse(body) as string;
  assert.match(String(await errorOf(verifyWebhook(headers, parsed, secret))), /not parsed JSON/);
  await receiver.close();
});

test('options that cannot work are refused when the client is made', () => {
  const make = (given: object) => () => createClient(app, acme, given);
  for (const baseUrl of ['', 'sms.example.com', 'ftp://x', 'https://me:secret@x', 'https://x/?a=1', 'https://x/#a'])
    assert.throws(make({ baseUrl }), /baseUrl must/, baseUrl);
  for (const apiKey of ['', 'a\r\nb: c', 'ключ', 'x'.repeat(2000)]) assert.throws(make({ apiKey }), /apiKey must/);
  for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(make({ timeoutMs }), /timeoutMs must/);
  assert.throws(make({ userAgent: 'a\nb' }), /userAgent must/);
});
