// Section 15 of the contract, through the sandbox's virtual handsets: numbers, texts from phones, words, opt-outs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Page, type Refusal, type Sender, type TextRecord } from '../support/texts.ts';

interface InboundRecord {
  id: string;
  to: string;
  from: string;
  message: string | null;
  segments: TextRecord['segments'];
  keyword: string | null;
  partial: boolean;
  received_at: string;
  possible_opt_out?: true;
}

let app: TestApp;
let operator: TestDeveloper;
let who: Sender;
let other: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  who = await createSender(app);
  other = await createSender(app);
});
after(() => app.close());

const numbersPath = '/portal/v1/operator/numbers';
let made = 0;
/** A phone and a number of ours that no other test uses. */
const newPhone = () => `+4477009${String(++made).padStart(5, '0')}`;
const newNumber = () => `+4478009${String(++made).padStart(5, '0')}`;

const give = (number: string, body: Record<string, unknown>) =>
  operator.send<Record<string, unknown>>('PUT', `${numbersPath}/${encodeURIComponent(number)}`, body);

async function held(who: Sender, more: Record<string, unknown> = {}, number = newNumber()): Promise<string> {
  const { status, body } = await give(number, { application_id: who.id, ...more });
  assert.equal(status, 200, JSON.stringify(body));
  return number;
}

const reply = (who: Sender, body: Record<string, unknown>, headers = who.key) =>
  send<InboundRecord & Refusal>(app, 'POST', '/sandbox/v1/inbox/replies', { body, headers });

async function answer(who: Sender, from: string, to: string, message: string): Promise<InboundRecord> {
  const { status, body } = await reply(who, { from, to, message });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const get = <Body = Page<InboundRecord>>(path: string, headers: Record<string, string>) =>
  send<Body>(app, 'GET', path, { headers });
const runAll = () => app.delivery.workers()[0]?.runUntilIdle();

/** What a virtual phone has got, oldest first. */
async function textsOn(who: Sender, phone: string): Promise<string[]> {
  await runAll();
  const { body } = await get<Page<{ text: string }>>(`/sandbox/v1/inbox?to=${encodeURIComponent(phone)}`, who.key);
  return body.data.map(({ text }) => text).reverse();
}

async function statusOf(sent: Promise<Answer<TextRecord>>): Promise<string> {
  const { status, body } = await sent;
  assert.ok([200, 201].includes(status), JSON.stringify(body));
  return body.error === null ? body.status : `${body.status} ${body.error.code}`;
}

describe('numbers', () => {
  test('PUT gives one to an application, GET shows it, DELETE takes it back', async () => {
    const number = newNumber();
    const { status, body } = await give(number, { application_id: who.id, ignored_words: ['end'] });
    assert.equal(status, 200);
    const expected = { number, application_id: who.id, api: 'sms', carrier: null, keyword: null };
    assert.deepEqual(
      { ...body, created_at: 0, updated_at: 0 },
      { ...expected, ignored_words: ['END'], created_at: 0, updated_at: 0 },
    );
    const path = `${numbersPath}/${encodeURIComponent(number)}`;
    assert.deepEqual((await operator.send('GET', path)).body, body);
    const list = await operator.send<Page<unknown>>('GET', `${numbersPath}?application_id=${who.id}`);
    assert.deepEqual(list.body.data, [body]);
    assert.equal((await operator.send('DELETE', path)).status, 204);
    assert.equal((await operator.send('GET', path)).status, 404);
    assert.equal((await operator.send('DELETE', path)).status, 404);
  });

  test('400 names what is wrong', async () => {
    const right = { application_id: who.id };
    const cases: [string, string, Record<string, unknown>][] = [
      ['number', 'ACME', right],
      ['number', '12', right],
      ['application_id', newNumber(), { application_id: 'app_00000000000000000000000000' }],
      ['application_id', newNumber(), {}],
      ['api', newNumber(), { ...right, api: 'verify' }],
      ['carrier', newNumber(), { ...right, carrier: 'nowhere' }],
      ['keyword', newNumber(), { ...right, keyword: 'two words' }],
      ['ignored_words', newNumber(), { ...right, ignored_words: ['STOP'] }],
      ['ignored_words', newNumber(), { ...right, ignored_words: ['HELLO'] }],
    ];
    for (const [field, number, body] of cases) {
      const { status, body: refusal } = await give(number, body);
      assert.equal(status, 400, JSON.stringify(refusal));
      assert.deepEqual(
        (refusal as unknown as Refusal).details.map((detail) => detail.field),
        [field],
      );
    }
  });

  test('only operators see numbers', async () => {
    const { status } = await who.developer.send('GET', numbersPath);
    assert.equal(status, 404);
    assert.equal((await send(app, 'GET', numbersPath)).status, 404);
  });

  test('a number that is given to another application leaves the first', async () => {
    const [first, second] = [who, other];
    const number = await held(first);
    await held(second, {}, number);
    const phone = newPhone();
    assert.equal((await reply(first, { from: phone, to: number, message: 'Hi' })).status, 400);
    assert.equal((await answer(second, phone, number, 'Hi')).message, 'Hi');
  });

  test('is shared by keyword: the first word decides, in any case', async () => {
    const [pizza, rest] = [who, other];
    const number = await held(pizza, { keyword: 'Pizza' });
    await held(rest, {}, number);
    const phone = newPhone();
    assert.equal((await answer(pizza, phone, number, 'pizza, two please')).keyword, 'PIZZA');
    assert.equal((await answer(rest, phone, number, 'Hello')).keyword, null);
  });
});

describe('texts from phones', () => {
  test('GET lists them newest first with every field in order, one by its id, and filters by from and to', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    const [one, two] = [await held(who), await held(who)];
    const phone = newPhone();
    const first = await answer(who, phone, one, 'Grüße 😀');
    const second = await answer(who, newPhone(), two, 'Hello');
    const expected: InboundRecord = {
      id: first.id,
      to: one,
      from: phone,
      message: 'Grüße 😀',
      segments: { count: 1, encoding: 'UCS-2', characters: 7, remaining: 62 },
      keyword: null,
      partial: false,
      received_at: new Date(app.clock.nowMs()).toISOString(),
    };
    assert.match(first.id, /^inb_[0-9a-z]{26}$/);
    assert.equal(JSON.stringify(first), JSON.stringify(expected));
    assert.deepEqual((await get('/sms/v1/inbound', who.key)).body, { data: [second, first], next_cursor: null });
    assert.deepEqual((await get<InboundRecord>(`/sms/v1/inbound/${first.id}`, who.key)).body, first);
    for (const query of [`from=${encodeURIComponent(phone)}`, `from=${phone}`, `to=${encodeURIComponent(one)}`])
      assert.deepEqual((await get(`/sms/v1/inbound?${query}`, who.key)).body.data, [first], query);
    const page = await get('/sms/v1/inbound?limit=1', who.key);
    assert.deepEqual(page.body.data, [second]);
    const next = await get(`/sms/v1/inbound?limit=1&cursor=${page.body.next_cursor}`, who.key);
    assert.deepEqual(next.body, { data: [first], next_cursor: null });
  });

  test('belong to one application and one API', async () => {
    const number = await held(who, { api: 'messaging' });
    const { id } = await answer(who, newPhone(), number, 'Hello');
    assert.equal((await get(`/messaging/v1/inbound/${id}`, who.token)).status, 200);
    assert.equal((await get(`/sms/v1/inbound/${id}`, who.key)).status, 404);
    assert.equal((await get(`/messaging/v1/inbound/${id}`, other.token)).status, 404);
    for (const [path, credential] of [
      ['/messaging/v1/inbound', other.token],
      ['/sms/v1/inbound', who.key],
    ] as const) {
      const { body } = await get(`${path}?to=${encodeURIComponent(number)}`, credential);
      assert.deepEqual(body, { data: [], next_cursor: null });
    }
    for (const bad of ['inb_0', 'msg_00000000000000000000000000', '%00'])
      assert.equal((await get(`/sms/v1/inbound/${bad}`, who.key)).status, 404, bad);
  });

  test('the portal lists both APIs of an own application', async () => {
    const number = await held(who, { api: 'messaging' });
    const { id } = await answer(who, newPhone(), number, 'Hello');
    const path = `/portal/v1/applications/${who.id}/inbound?to=${encodeURIComponent(number)}`;
    const { body } = await who.developer.send<Page<InboundRecord & { api: string }>>('GET', path);
    assert.deepEqual(
      body.data.map((each) => [each.id, each.api]),
      [[id, 'messaging']],
    );
    assert.deepEqual((await who.developer.send<Page<unknown>>('GET', `${path}&api=sms`)).body.data, []);
    assert.equal((await other.developer.send('GET', path)).status, 404);
  });
});

describe('POST /sandbox/v1/inbox/replies', () => {
  test('goes to the sender of a text that the handset got, and to no other', async () => {
    const phone = newPhone();
    await who.sms({ to: phone, from: 'ACME' });
    await runAll();
    const got = await answer(who, phone, 'ACME', 'Thanks');
    assert.deepEqual([got.to, got.from, got.message], ['ACME', phone, 'Thanks']);
    assert.deepEqual((await get('/sms/v1/inbound', who.key)).body.data[0], got);
    for (const [caller, from, to] of [
      [other, phone, 'ACME'],
      [who, newPhone(), 'ACME'],
      [who, phone, 'Other'],
      [who, phone, newNumber()],
    ] as const) {
      const { status, body } = await reply(caller, { from, to, message: 'Hi' });
      assert.deepEqual([status, body.details?.[0]?.field], [400, 'to']);
    }
  });

  test('400 for bad fields, 401 without a credential, and a session names its application', async () => {
    const right = { from: newPhone(), to: await held(who), message: 'Hi' };
    for (const [field, change] of [
      ['from', { from: '12' }],
      ['message', { message: '' }],
      ['message', { message: 'x'.repeat(2000) }],
      ['to', { to: '' }],
      ['to', { to: '\0' }],
    ] as const) {
      const { status, body } = await reply(who, { ...right, ...change });
      assert.deepEqual([status, body.details?.[0]?.field], [400, field], JSON.stringify(body));
    }
    assert.equal((await reply(who, right, {})).status, 401);
    assert.equal((await reply(who, right, who.token)).status, 201);
    const session = { cookie: who.developer.cookie };
    assert.equal((await reply(who, right, session)).body.details?.[0]?.field, 'application_id');
    assert.equal((await reply(who, { ...right, application_id: who.id }, session)).status, 201);
    const stranger = { cookie: other.developer.cookie };
    assert.equal((await reply(who, { ...right, application_id: who.id }, stranger)).status, 404);
  });
});

describe('stop, start and help', () => {
  test('a stop word blocks the number for the application and the sender, is confirmed once, and a start word undoes it', async () => {
    const number = await held(who);
    const phone = newPhone();
    await answer(who, phone, number, 'Stop!');
    assert.equal(await statusOf(who.sms({ to: phone, from: number })), 'failed blocked_by_recipient');
    assert.equal(await statusOf(who.messaging({ to: phone, from: 'ACME' })), 'failed blocked_by_recipient');
    assert.equal(await statusOf(other.sms({ to: phone, from: number })), 'failed blocked_by_recipient');
    assert.equal(await statusOf(other.sms({ to: phone, from: 'Other' })), 'queued');
    assert.equal(await statusOf(who.sms({ to: newPhone(), from: number })), 'queued');
    const [confirmed] = await textsOn(who, phone);
    assert.match(confirmed ?? '', /^You get no more texts from .*START/);
    app.clock.advance(11 * 60_000);
    await answer(who, phone, number, 'start');
    assert.equal(await statusOf(who.sms({ to: phone, from: number, message: 'again' })), 'queued');
    // One confirmation a day.
    assert.deepEqual(await textsOn(who, phone), [confirmed, 'again']);
  });

  test('a failed text is read, listed by its status, and never leaves', async () => {
    const number = await held(who);
    const phone = newPhone();
    await answer(who, phone, number, 'STOP');
    const { body } = await who.sms({ to: phone, from: number }, { 'Idempotency-Key': 'once' });
    assert.deepEqual(body.error, {
      code: 'blocked_by_recipient',
      message: 'The recipient does not want texts from this sender.',
      permanent: true,
    });
    assert.deepEqual(await who.readSms(body.id), body);
    const again = await who.sms({ to: phone, from: number }, { 'Idempotency-Key': 'once' });
    assert.deepEqual(again.body, body);
    const { body: list } = await get<Page<TextRecord>>('/sms/v1/messages?status=failed', who.key);
    assert.equal(list.data[0]?.id, body.id);
    assert.equal((await textsOn(who, phone)).length, 1);
  });

  test('counts as accepted in a batch', async () => {
    const phone = newPhone();
    await answer(who, phone, await held(who), 'STOP');
    const messages = [phone, newPhone()].map((to) => ({ to, from: 'ACME', message: 'Hi' }));
    const path = '/messaging/v1/messages/batch';
    const { status, body } = await send<{ data: TextRecord[]; summary: unknown }>(app, 'POST', path, {
      body: { messages },
      headers: who.token,
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.data.map((each) => each.status),
      ['failed', 'queued'],
    );
    assert.deepEqual(body.summary, { accepted: 2, rejected: 0 });
  });

  test('a text that was accepted before the stop word does not leave after it', async () => {
    const number = await held(who);
    const phone = newPhone();
    const { body } = await who.sms({ to: phone, from: number });
    const sendAt = new Date(app.clock.nowMs() + 60_000).toISOString();
    const { body: later } = await who.sms({ to: phone, from: number, send_at: sendAt });
    await answer(who, phone, number, 'STOP');
    app.clock.advance(61_000);
    await textsOn(who, phone);
    for (const { id } of [body, later]) assert.equal((await who.readSms(id)).error?.code, 'blocked_by_recipient');
    assert.equal((await textsOn(who, phone)).length, 1);
  });

  test('verifications ignore opt-outs', async () => {
    const number = await held(who);
    const phone = newPhone();
    await answer(who, phone, number, 'STOP');
    await textsOn(who, phone);
    const token = bearer(await getToken(app, who.client, 'verify:manage'));
    const { status } = await send(app, 'POST', '/verify/v1/verifications', {
      body: { to: phone, channel: 'sms' },
      headers: token,
    });
    assert.equal(status, 200);
    assert.equal((await textsOn(who, phone)).length, 2);
  });

  test('other words stop too, unless the number ignores them; a start word of those who are in does nothing', async () => {
    const number = await held(who, { ignored_words: ['END'] });
    for (const [word, out] of [
      ['quit', true],
      ['ARRÊT', true],
      ['baja', true],
      ['end', false],
      ['start', false],
    ] as const) {
      const phone = newPhone();
      await answer(who, phone, number, word);
      assert.equal(
        await statusOf(who.sms({ to: phone, from: number })),
        out ? 'failed blocked_by_recipient' : 'queued',
        word,
      );
      assert.equal((await textsOn(who, phone)).length, 1, word);
    }
  });

  test('a text that only begins with a stop word is marked and not acted on', async () => {
    const number = await held(who);
    const phone = newPhone();
    const record = await answer(who, phone, number, 'Stop sending me this');
    assert.equal(record.possible_opt_out, true);
    assert.equal(await statusOf(who.sms({ to: phone, from: number })), 'queued');
    assert.equal('possible_opt_out' in (await answer(who, phone, number, 'Thanks')), false);
  });

  test('a help word gets the help text, also of those who are out', async () => {
    const number = await held(who);
    const phone = newPhone();
    await answer(who, phone, number, 'STOP');
    const path = `/portal/v1/applications/${who.id}`;
    const changed = await who.developer.send('PATCH', path, { help_text: 'Call +44 1632 960000.' });
    assert.deepEqual([changed.status, changed.body.help_text], [200, 'Call +44 1632 960000.']);
    await answer(who, phone, number, 'Help');
    const texts = await textsOn(who, phone);
    assert.equal(texts.at(-1), 'Call +44 1632 960000.');
    assert.equal((await who.developer.send('PATCH', path, {})).status, 400);
    assert.equal((await who.developer.send('PATCH', path, { help_text: '' })).status, 400);
    assert.equal((await who.developer.send('PATCH', path, { help_text: null })).body.help_text, null);
  });

  test('answers cannot loop: a repeat within a minute and more than five texts in ten minutes get none', async () => {
    const number = await held(who);
    const phone = newPhone();
    const answers = async () => (await textsOn(who, phone)).length;
    await answer(who, phone, number, 'help');
    await answer(who, phone, number, 'help');
    assert.equal(await answers(), 1);
    for (const text of ['HELP', 'Help', 'help!']) await answer(who, phone, number, text);
    assert.equal(await answers(), 4);
    await answer(who, phone, number, 'help?');
    assert.equal(await answers(), 4);
    app.clock.advance(10 * 60_000 + 1);
    await answer(who, phone, number, 'help?');
    assert.equal(await answers(), 5);
    const own = await held(who);
    await answer(who, own, number, 'help');
    assert.deepEqual(await textsOn(who, own), []);
  });

  test('a virtual handset stops the applications that hold the number, and no stranger by a name', async () => {
    const phone = newPhone();
    for (const each of [who, other]) await each.sms({ to: phone, from: 'SHARED' });
    await runAll();
    await answer(who, phone, 'SHARED', 'STOP');
    assert.equal(await statusOf(who.sms({ to: phone, from: 'SHARED' })), 'failed blocked_by_recipient');
    assert.equal(await statusOf(other.sms({ to: phone, from: 'SHARED' })), 'queued');
  });
});

const byText = (a: string, b: string) => (a < b ? -1 : 1);

describe('opt-outs', () => {
  interface OptOutRecord {
    number: string;
    source: string;
    word: string | null;
    created_at: string;
  }
  const path = (number: string, api = 'sms') => `/${api}/v1/opt-outs/${encodeURIComponent(number)}`;
  const put = (who: Sender, number: string) => send<OptOutRecord>(app, 'PUT', path(number), { headers: who.key });
  const remove = (who: Sender, number: string) => send<Refusal>(app, 'DELETE', path(number), { headers: who.key });

  test('PUT, GET and DELETE of what the API itself says, in both APIs', async () => {
    const phone = newPhone();
    const { status, body } = await put(who, phone);
    const created_at = new Date(app.clock.nowMs()).toISOString();
    assert.deepEqual([status, body], [200, { number: phone, source: 'api', word: null, created_at }]);
    app.clock.advance(5);
    assert.deepEqual((await put(who, phone)).body, body);
    for (const query of ['', `?to=${encodeURIComponent(phone)}`])
      assert.deepEqual((await get<Page<OptOutRecord>>(`/messaging/v1/opt-outs${query}`, who.token)).body.data[0], body);
    assert.deepEqual((await get<Page<OptOutRecord>>('/sms/v1/opt-outs', other.key)).body.data, []);
    assert.equal(await statusOf(who.messaging({ to: phone })), 'failed blocked_by_recipient');
    assert.equal(await statusOf(other.sms({ to: phone })), 'queued');
    assert.equal((await remove(other, phone)).status, 404);
    const removed = await send(app, 'DELETE', path(phone, 'messaging'), { headers: who.token });
    assert.equal(removed.status, 204);
    assert.equal((await remove(who, phone)).status, 404);
    assert.equal(await statusOf(who.sms({ to: phone })), 'queued');
    for (const method of ['PUT', 'DELETE']) {
      const bad = await send<Refusal>(app, method, path('12'), { headers: who.key });
      assert.deepEqual([bad.status, bad.body.details[0]?.field], [400, 'number']);
    }
  });

  test("a person's own word is undone by that person, or by an operator with a reason", async () => {
    const number = await held(who);
    const phone = newPhone();
    await put(who, phone);
    await answer(who, phone, number, 'stop');
    const { body: list } = await get<Page<OptOutRecord>>(`/sms/v1/opt-outs?to=${encodeURIComponent(phone)}`, who.key);
    assert.deepEqual(
      list.data.map(({ source, word }) => [source, word]),
      [['mo', 'STOP']],
    );
    assert.equal((await put(who, phone)).body.source, 'mo');
    const refused = await remove(who, phone);
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);

    const operatorPath = '/portal/v1/operator/opt-outs';
    const { body: all } = await operator.send<
      Page<{ scope: string; sender: string | null; application_id: string | null }>
    >('GET', `${operatorPath}?number=${encodeURIComponent(phone)}`);
    assert.deepEqual(
      all.data.map(({ scope, sender, application_id }) => `${scope} ${sender ?? application_id}`).sort(byText),
      [`application ${who.id}`, `sender ${number.slice(1)}`],
    );
    const one = `${operatorPath}/${encodeURIComponent(phone)}`;
    assert.equal((await operator.send('DELETE', one)).status, 400);
    assert.equal((await who.developer.send('DELETE', `${one}?reason=mine`)).status, 404);
    assert.equal((await operator.send('DELETE', `${one}?reason=asked+by+letter`)).status, 204);
    assert.equal((await operator.send('DELETE', `${one}?reason=again`)).status, 404);
    assert.equal(await statusOf(who.sms({ to: phone, from: number })), 'queued');
    const { rows } = await app.db.database.query(
      `select source, word, reason from opt_out_change where subject = $1 order by id desc limit 3`,
      [who.id],
    );
    assert.deepEqual(rows.reverse(), [
      { source: 1, word: null, reason: null },
      { source: 0, word: 'STOP', reason: null },
      { source: 4, word: null, reason: 'asked by letter' },
    ]);
  });
});
