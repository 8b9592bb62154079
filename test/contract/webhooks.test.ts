import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventTypes } from '../../src/events/event.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import type {
  InspectedDeliveryRecord,
  NewWebhookRecord,
  NewWebhookSecret,
  WebhookDelivery,
  WebhookDetail,
  WebhookTest,
} from '../../src/portal/developer/webhook-record.ts';
import { deleteOldAnswers } from '../../src/webhooks/answer-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createApplication, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { writeEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Page, type Refusal, type Sender } from '../support/texts.ts';
import { answer, createWebhookReceiver, ok, verifies, type WebhookReceiver } from '../support/webhook-receiver.ts';

let app: TestApp;
let sender: Sender;
let eve: TestDeveloper;
let receiver: WebhookReceiver;
before(async () => {
  app = await createTestApp();
  sender = await createSender(app, { apis: ['sms'] });
  eve = await signUp(app);
  receiver = await createWebhookReceiver();
});
after(async () => {
  await app.close();
  await receiver.close();
});

const pathOf = (applicationId: string, rest = '') => `/portal/v1/applications/${applicationId}/webhooks${rest}`;
const path = (rest = '') => pathOf(sender.id, rest);

async function create(given: object = {}, applicationId = sender.id): Promise<NewWebhookRecord> {
  const made = await sender.developer.send<NewWebhookRecord>('POST', pathOf(applicationId), {
    url: receiver.url,
    ...given,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body;
}

async function remove(id: string): Promise<void> {
  assert.equal((await sender.developer.send('DELETE', path(`/${id}`))).status, 204);
}

async function listDeliveries(id: string, query = ''): Promise<WebhookDelivery[]> {
  const { status, body } = await sender.developer.send<Page<WebhookDelivery>>('GET', path(`/${id}/deliveries${query}`));
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

/** Sends a text and waits until a webhook has received its event. */
async function tellOne(count = receiver.calls.length + 1): Promise<void> {
  assert.equal((await sender.sms()).status, 201);
  await eventually('the endpoint is called', () => receiver.calls.length >= count);
}

/** Waits until the text was sent. */
async function hasEvent(messageId: string): Promise<void> {
  await eventually('the text has an event', async () => {
    return (await app.db.database.query('select from event where subject = $1', [uuidOf(messageId)])).count > 0;
  });
}

describe('a webhook', () => {
  test('is made, listed, read, changed and deleted', async () => {
    const given = { types: ['message.sent', 'message.sent', 'webhook.test'], description: 'ours' };
    const made = await sender.developer.send<NewWebhookRecord>('POST', path(), { url: receiver.url, ...given });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), path(`/${made.body.id}`));
    const { secret, ...detail } = made.body;
    assert.match(made.body.id, /^whk_[0-9a-z]{26}$/);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(detail.types, ['message.sent', 'webhook.test']);
    assert.equal(detail.description, 'ours');
    assert.equal(detail.status, 'active');
    assert.equal(detail.secrets.length, 1);
    const read = await sender.developer.send<WebhookDetail>('GET', path(`/${made.body.id}`));
    assert.deepEqual(read.body, detail);
    const list = await sender.developer.send<Page<WebhookDetail>>('GET', path());
    const { secrets: _, ...listed } = detail;
    assert.deepEqual(list.body, { data: [listed], next_cursor: null });
    const change = { types: [], description: null, status: 'paused' };
    const changed = await sender.developer.send<WebhookDetail>('PATCH', path(`/${made.body.id}`), change);
    assert.equal(changed.status, 200);
    assert.deepEqual([changed.body.types, changed.body.description, changed.body.status], [[], null, 'paused']);
    await remove(made.body.id);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const body = method === 'PATCH' ? { status: 'active' } : undefined;
      assert.equal((await sender.developer.send(method, path(`/${made.body.id}`), body)).status, 404, method);
    }
  });

  test('of another account, another application or no one is not found', async () => {
    const { id } = await create();
    const other = await createApplication(sender.developer);
    const rests: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { status: 'paused' }],
      ['POST', '/secrets', {}],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${newId('evt', app.clock)}/replay`],
      ['POST', '/replay', { since: new Date(app.clock.nowMs()).toISOString() }],
      ['DELETE', ''],
    ];
    for (const [method, rest, body] of rests) {
      const places: [TestDeveloper, string][] = [
        [eve, path(`/${id}${rest}`)],
        [sender.developer, pathOf(other, `/${id}${rest}`)],
        [sender.developer, path(`/${newId('whk', app.clock)}${rest}`)],
        [sender.developer, path(`/nonsense${rest}`)],
      ];
      for (const [developer, place] of places)
        assert.equal((await developer.send(method, place, body)).status, 404, `${method} ${place}`);
    }
    for (const method of ['GET', 'POST'])
      assert.equal((await eve.send(method, path(), method === 'GET' ? undefined : { url: receiver.url })).status, 404);
    assert.equal((await send(app, 'GET', path())).status, 401);
    await remove(id);
  });

  test('a bad field is a 400 that names it', async () => {
    const { id } = await create();
    const bad: [string, object][] = [
      ['url', {}],
      ['url', { url: '' }],
      ['url', { url: 'nonsense' }],
      ['url', { url: 'ftp://127.0.0.1/' }],
      ['url', { url: `http://127.0.0.1/${'a'.repeat(2040)}` }],
      ['url', { url: 'http://user:secret@127.0.0.1/' }],
      ['url', { url: 'http://127.0.0.1/#part' }],
      ['url', { url: 'http://10.0.0.1/' }],
      ['url', { url: 'http://[::ffff:10.0.0.1]/' }],
      ['url', { url: 'http://169.254.169.254/latest' }],
      ['url', { url: 5 }],
      ['types.0', { url: receiver.url, types: ['message.queued'] }],
      ['types', { url: receiver.url, types: Array(20).fill(eventTypes[0]) }],
      ['types', { url: receiver.url, types: 'message.sent' }],
      ['description', { url: receiver.url, description: 'a'.repeat(201) }],
    ];
    for (const [field, body] of bad) {
      const { status, body: refusal } = await sender.developer.send<Refusal>('POST', path(), body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.ok(
        refusal.details.some((detail) => detail.field === field),
        `${JSON.stringify(body)}: ${JSON.stringify(refusal.details)}`,
      );
    }
    for (const body of [{}, { status: 'disabled' }, { url: 'http://10.0.0.1/' }, { types: ['x'] }])
      assert.equal((await sender.developer.send('PATCH', path(`/${id}`), body)).status, 400, JSON.stringify(body));
    for (const overlap_seconds of [-1, 2_592_001, 1.5, 'x'])
      assert.equal((await sender.developer.send('POST', path(`/${id}/secrets`), { overlap_seconds })).status, 400);
    const nowMs = app.clock.nowMs();
    const at = (ms: number) => new Date(ms).toISOString();
    const spans: [string, object][] = [
      ['since', {}],
      ['since', { since: 'yesterday' }],
      ['since', { since: at(nowMs - 8 * dayMs) }],
      ['since', { since: at(nowMs + 60_000) }],
      ['until', { since: at(nowMs - 1000), until: at(nowMs - 2000) }],
      ['types.0', { since: at(nowMs), types: ['x'] }],
    ];
    for (const [field, body] of spans) {
      const refused = await sender.developer.send<Refusal>('POST', path(`/${id}/replay`), body);
      assert.equal(refused.status, 400, JSON.stringify(body));
      assert.equal(refused.body.details[0]?.field, field);
    }
    assert.equal((await sender.developer.send('GET', path(`/${id}/deliveries?status=lost`))).status, 400);
    assert.equal((await sender.developer.send('GET', path(`/${id}/deliveries?cursor=bm9uc2Vuc2U`))).status, 400);
    await remove(id);
  });

  test('ten an application, exactly, however many ask at once', async () => {
    const applicationId = await createApplication(sender.developer);
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        let status = 503;
        while (status === 503)
          ({ status } = await sender.developer.send('POST', pathOf(applicationId), { url: receiver.url }));
        statuses.push(status);
      }),
    );
    assert.equal(statuses.filter((status) => status === 201).length, 10);
    assert.equal(statuses.filter((status) => status === 409).length, 6);
  });
});

describe('calls', () => {
  test('deliver the events of the application, signed', async () => {
    const { id, secret } = await create({ types: ['message.sent', 'message.delivered'] });
    receiver.calls.length = 0;
    const made = await sender.sms({ reference: 'order 7' });
    await eventually('the first event came', () => receiver.calls.length === 1);
    // The sandbox's phones report after a while.
    app.clock.advance(10_000);
    app.delivery.wake();
    await eventually('both events came', () => receiver.calls.length === 2);
    const [first, second] = receiver.calls.toSorted((a, b) => a.event.sequence - b.event.sequence);
    assert.ok(first && second, 'two calls');
    assert.ok(verifies(secret, first) && verifies(secret, second), 'an independent implementation verifies them');
    assert.equal(first.headers['webhook-id'], first.event.id);
    assert.equal(first.headers['content-type'], 'application/json');
    assert.deepEqual([first.event.type, second.event.type], ['message.sent', 'message.delivered']);
    assert.deepEqual([first.event.subject, first.event.reference], [made.body.id, 'order 7']);
    assert.equal(first.event.application_id, sender.id);
    await eventually('both are recorded', async () => (await listDeliveries(id, '?status=delivered')).length === 2);
    const [newest, oldest] = await listDeliveries(id);
    assert.deepEqual([newest?.event_id, oldest?.event_id], [second.event.id, first.event.id]);
    assert.deepEqual([newest?.type, newest?.subject, newest?.sequence], ['message.delivered', made.body.id, 2]);
    assert.equal(newest?.attempts.length, 1);
    assert.deepEqual([newest?.attempts[0]?.status_code, newest?.attempts[0]?.error], [200, null]);
    const page = await sender.developer.send<Page<WebhookDelivery>>('GET', path(`/${id}/deliveries?limit=1`));
    const rest = `/${id}/deliveries?limit=1&cursor=${page.body.next_cursor}`;
    const next = await sender.developer.send<Page<WebhookDelivery>>('GET', path(rest));
    assert.deepEqual(next.body, { data: [oldest], next_cursor: null });
    assert.deepEqual(await listDeliveries(id, '?status=failed'), []);
    await remove(id);
  });

  test('two secrets sign during an overlap, and only the newer one after it', async () => {
    const { id, secret } = await create({ types: ['message.sent'] });
    const rotate = (overlap_seconds: number) =>
      sender.developer.send<NewWebhookSecret>('POST', path(`/${id}/secrets`), { overlap_seconds });
    const second = await rotate(60);
    assert.equal(second.status, 201);
    assert.notEqual(second.body.secret, secret);
    receiver.calls.length = 0;
    await tellOne(1);
    const [call] = receiver.calls;
    assert.ok(call && verifies(secret, call) && verifies(second.body.secret, call), 'both verify it');
    app.clock.advance(61_000);
    receiver.calls.length = 0;
    await tellOne(1);
    const [later] = receiver.calls;
    // The receiver's clock is the machine's: the test's runs 61 s ahead of it, which Standard Webhooks allows.
    assert.ok(later && !verifies(secret, later) && verifies(second.body.secret, later), 'the new one only');
    const third = await rotate(0);
    receiver.calls.length = 0;
    await tellOne(1);
    const [last] = receiver.calls;
    assert.ok(last && !verifies(second.body.secret, last) && verifies(third.body.secret, last), 'at once');
    const read = await sender.developer.send<WebhookDetail>('GET', path(`/${id}`));
    assert.deepEqual(read.body.secrets, [{ id: third.body.id, created_at: third.body.created_at, ends_at: null }]);
    for (let more = 0; more < 4; more++) assert.equal((await rotate(600)).status, 201);
    assert.equal((await rotate(600)).status, 409);
    await remove(id);
  });

  test('a test is sent once, and its outcome is the answer', async () => {
    const { id, secret } = await create({ types: ['message.sent'] });
    await sender.developer.send('PATCH', path(`/${id}`), { status: 'paused' });
    receiver.calls.length = 0;
    const right = await sender.developer.send<WebhookTest>('POST', path(`/${id}/test`));
    assert.equal(right.status, 200);
    assert.deepEqual([right.body.outcome, right.body.status_code, right.body.error], ['delivered', 200, null]);
    const [call] = receiver.calls;
    assert.ok(call && verifies(secret, call), 'it is signed');
    assert.deepEqual([call.event.type, call.event.id, call.event.subject], ['webhook.test', right.body.event_id, id]);
    receiver.respond = answer(500, {}, 'out of\u0000 order');
    const wrong = await sender.developer.send<WebhookTest>('POST', path(`/${id}/test`));
    receiver.respond = ok;
    assert.deepEqual([wrong.status, wrong.body.outcome, wrong.body.status_code], [200, 'failed', 500]);
    assert.equal(wrong.body.error, 'The endpoint answered 500. It said: out of order');
    assert.equal(receiver.calls.length, 2);
    assert.deepEqual(await listDeliveries(id), []);
    await remove(id);
  });

  test('wait while the webhook is paused', async () => {
    const { id } = await create({ types: ['message.sent'] });
    await sender.developer.send('PATCH', path(`/${id}`), { status: 'paused' });
    receiver.calls.length = 0;
    const made = await sender.sms();
    await hasEvent(made.body.id);
    assert.equal(receiver.calls.length, 0);
    const changed = await sender.developer.send<WebhookDetail>('PATCH', path(`/${id}`), { status: 'active' });
    assert.equal(changed.body.status, 'active');
    await eventually('it arrives', () => receiver.calls.length === 1);
    assert.equal(receiver.calls[0]?.event.subject, made.body.id);
    await remove(id);
  });

  test('wait while an operator has disabled the account, and go on where they stopped when it is enabled', async () => {
    const operator = await createOperator(app);
    const own = await createSender(app, { apis: ['sms'] });
    const { body: me } = await own.developer.send<{ id: string }>('GET', '/portal/v1/me');
    const account = `/portal/v1/operator/accounts/${me.id}`;
    const endpoint = await createWebhookReceiver();
    assert.equal((await own.developer.send('POST', pathOf(own.id), { url: endpoint.url })).status, 201);
    const neighbour = await create();
    const write = (application: string, count: number) =>
      writeEvents(
        app.db.database,
        application,
        Array.from({ length: count }, () => ({ subject: newId('msg', app.clock) })),
      );
    // It is in the hands of a worker, with calls under way, when it is disabled.
    endpoint.respond = (_, response) => void setTimeout(() => response.end('{}'), 20);
    await write(own.id, 200);
    await eventually('calls go on', () => endpoint.calls.length >= 10);
    assert.equal((await operator.send('POST', `${account}/disable`, { reason: 'unpaid' })).status, 200);
    const before = endpoint.calls.length;
    assert.ok(before < 200, 'it was disabled in the middle');
    await write(own.id, 3);
    // The worker polls for events at least twice.
    for (let look = 0; look < 2; look++) {
      const told = receiver.calls.length;
      await write(sender.id, 1);
      await eventually('a neighbour receives its event', () => receiver.calls.length > told);
    }
    assert.equal(endpoint.calls.length, before);
    assert.equal((await operator.send('POST', `${account}/enable`)).status, 200);
    const distinct = () => new Set(endpoint.calls.map(({ event }) => event.id)).size;
    await eventually('all arrive', () => distinct() === 203);
    await remove(neighbour.id);
    await endpoint.close();
  });

  test('410 disables the webhook, and it begins anew with the next event', async () => {
    const { id } = await create({ types: ['message.sent'] });
    const isListening = async () => (await app.db.database.query('select from event_listener')).count > 0;
    const read = async () => (await sender.developer.send<WebhookDetail>('GET', path(`/${id}`))).body;
    receiver.calls.length = 0;
    receiver.respond = answer(410);
    await sender.sms();
    await eventually('it is disabled', async () => (await read()).status === 'disabled');
    receiver.respond = ok;
    const { disabled_reason, disabled_at } = await read();
    assert.equal(disabled_reason, 'gone');
    assert.ok(disabled_at, 'it says when');
    const [{ event_id = '', status = '' } = {}] = await listDeliveries(id);
    assert.equal(status, 'failed');
    assert.equal((await sender.developer.send('POST', path(`/${id}/deliveries/${event_id}/replay`))).status, 409);
    const since = new Date(app.clock.nowMs()).toISOString();
    assert.equal((await sender.developer.send('POST', path(`/${id}/replay`), { since })).status, 409);
    const unheard = await sender.sms();
    await eventually('it was sent', async () => {
      const query = 'select from message where id = $1 and sent_at is not null';
      return (await app.db.database.query(query, [uuidOf(unheard.body.id)])).count === 1;
    });
    const revived = await sender.developer.send('PATCH', path(`/${id}`), { status: 'active' });
    assert.equal(revived.status, 200, app.logLines.filter((line) => line.includes('"error"')).join(''));
    assert.equal(await isListening(), true);
    assert.deepEqual([(await read()).status, (await read()).disabled_reason], ['active', null]);
    const heard = await sender.sms();
    await eventually('the next event arrives', () => receiver.calls.length === 2);
    assert.equal(receiver.calls[1]?.event.subject, heard.body.id);
    await remove(id);
  });

  test('410 to a test disables the webhook too, and a test of a disabled one changes nothing', async () => {
    const { id } = await create();
    const read = async () => (await sender.developer.send<WebhookDetail>('GET', path(`/${id}`))).body;
    receiver.respond = answer(410);
    const tested = await sender.developer.send<WebhookTest>('POST', path(`/${id}/test`));
    assert.deepEqual([tested.status, tested.body.outcome, tested.body.status_code], [200, 'failed', 410]);
    const { status, disabled_reason, disabled_at } = await read();
    assert.deepEqual([status, disabled_reason], ['disabled', 'gone']);
    assert.ok(disabled_at, 'it says when');
    await sender.developer.send('POST', path(`/${id}/test`));
    receiver.respond = ok;
    await sender.developer.send('POST', path(`/${id}/test`));
    assert.equal((await read()).status, 'disabled');
    await remove(id);
  });
});

describe('the inspector', () => {
  test('shows what was sent and the first 2 kB that came back, without a secret; answers are erased after 7 days', async () => {
    const { id, secret } = await create();
    const long = `bad\u0000\u001b[31m${'x'.repeat(3000)}`;
    receiver.respond = answer(500, { 'X-Why': 'no reason', 'Content-Type': 'text/plain' }, long);
    await tellOne();
    const sent = receiver.calls.at(-1);
    assert.ok(sent !== undefined);
    const inspect = () =>
      sender.developer.send<InspectedDeliveryRecord>('GET', path(`/${id}/deliveries/${sent.event.id}`));
    await eventually('the answer is kept', async () => {
      const { status, body } = await inspect();
      return status === 200 && body.attempts[0]?.response != null;
    });
    const { body } = await inspect();
    const [attempt] = body.attempts;
    assert.deepEqual(JSON.parse(body.request_body), JSON.parse(sent.body));
    assert.deepEqual([body.url, body.to, attempt?.status_code], [receiver.url, '+447700900123', 500]);
    const headers = Object.fromEntries(attempt?.request_headers.map(({ name, value }) => [name, value]) ?? []);
    for (const name of ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp'])
      assert.equal(headers[name], sent.headers[name], name);
    assert.equal(headers['webhook-signature'], 'v1,…');
    const { response } = attempt ?? {};
    assert.ok(response?.headers.some(({ name, value }) => name === 'x-why' && value === 'no reason'));
    assert.equal(response?.body, `bad\u2400\u241b[31m${'x'.repeat(2048 - 9)}`);
    assert.equal(response?.is_cut, true);
    assert.ok(!JSON.stringify(body).includes(secret.slice('whsec_'.length)));
    const other = await eve.send('GET', path(`/${id}/deliveries/${sent.event.id}`));
    assert.equal(other.status, 404);
    assert.equal((await sender.developer.send('GET', path(`/${id}/deliveries/nope`))).status, 404);

    const nowMs = app.clock.nowMs();
    assert.equal(await deleteOldAnswers(app.db.database, nowMs - dayMs), 0);
    assert.ok((await deleteOldAnswers(app.db.database, nowMs + dayMs)) > 0);
    assert.equal((await inspect()).body.attempts[0]?.response, null);
    receiver.respond = ok;
    await remove(id);
  });
});

describe('replays', () => {
  test('one event, or all of a span, is delivered again', async () => {
    const { id } = await create({ types: ['message.sent'] });
    receiver.calls.length = 0;
    const beganMs = app.clock.nowMs();
    for (let each = 1; each <= 3; each++) {
      await tellOne(each);
      app.clock.advance(1000);
    }
    await eventually('all are recorded', async () => (await listDeliveries(id)).length === 3);
    const [, middle] = await listDeliveries(id);
    const again = await sender.developer.send('POST', path(`/${id}/deliveries/${middle?.event_id}/replay`));
    assert.deepEqual([again.status, again.body], [202, { status: 'queued' }]);
    await eventually('it arrives again', () => receiver.calls.length === 4);
    assert.equal(receiver.calls[3]?.event.id, middle?.event_id);
    await eventually('it is recorded', async () => (await listDeliveries(id))[1]?.attempts.length === 2);
    const since = new Date(beganMs + 500).toISOString();
    const span = await sender.developer.send('POST', path(`/${id}/replay`), { since, types: ['message.sent'] });
    assert.equal(span.status, 202);
    await eventually('two arrive again', () => receiver.calls.length === 6);
    await eventually('the span is done', async () => {
      return (await app.db.database.query('select from webhook_replay')).count === 0;
    });
    const times = async () => (await listDeliveries(id)).map(({ attempts, status }) => `${attempts.length} ${status}`);
    await eventually('both are delivered', async () => (await times()).every((each) => each.endsWith('delivered')));
    assert.deepEqual(await times(), ['2 delivered', '3 delivered', '1 delivered']);
    const strange = await sender.developer.send('POST', path(`/${id}/deliveries/${newId('evt', app.clock)}/replay`));
    assert.equal(strange.status, 404);
    await remove(id);
  });
});

test('listening ends with the last webhook, unless the feed was read lately', async () => {
  const applicationId = await createApplication(sender.developer);
  const ofListener = async () => (await app.db.database.query('select from event_listener')).count;
  const before = await ofListener();
  const [one, two] = [await create({}, applicationId), await create({}, applicationId)];
  assert.equal(await ofListener(), before + 1);
  await sender.developer.send('DELETE', pathOf(applicationId, `/${one.id}`));
  assert.equal(await ofListener(), before + 1);
  await sender.developer.send('DELETE', pathOf(applicationId, `/${two.id}`));
  assert.equal(await ofListener(), before);
});

test('no secret and no body is in the log or in the database', async () => {
  const { id, secret } = await create();
  await tellOne();
  const log = app.logLines.join('');
  assert.ok(!log.includes(secret.slice(6)), 'the log has no secret');
  assert.ok(!log.includes('Hello'), 'the log has no body');
  const { rows } = await app.db.database.query<{ row: string }>('select s::text as row from webhook_secret s');
  const bytes = Buffer.from(secret.slice(6), 'base64').toString('hex');
  assert.ok(!rows.some(({ row }) => row.includes(bytes)), 'the database has it sealed');
  await remove(id);
});
