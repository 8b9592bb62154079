// run: on both lanes
// Twilio's Messages over our SMS API: every row of the table in section 19 of the contract that is about texts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { idOf, sidOf } from '../../src/twilio/sid.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { countMessages } from '../support/texts.ts';
import { assertTwilioError, createTwilioCaller, type TwilioCaller, type TwilioErrorBody } from './caller.ts';

let app: TestApp;
let acme: TwilioCaller;
before(async () => {
  app = await createTestApp();
  acme = await createTwilioCaller(app);
});
after(() => app.close());

interface Shown {
  sid: string;
  account_sid: string;
  messaging_service_sid: string | null;
  body: string;
  to: string;
  from: string;
  status: string;
  num_segments: string;
  error_code: number | null;
  error_message: string | null;
  date_created: string;
  date_updated: string;
  date_sent: string | null;
  uri: string;
}

interface ShownPage {
  messages: Shown[];
  page: number;
  page_size: number;
  start: number;
  end: number;
  uri: string;
  first_page_uri: string;
  next_page_uri: string | null;
}

const text = (more: Record<string, string> = {}) => ({
  To: acme.newNumber(),
  From: 'ACME',
  Body: 'Your order has left.',
  ...more,
});
const create = (form: Record<string, string>) => acme.post<Shown>(`${acme.messages}.json`, form);
const cancel = (sid: string, form: Record<string, string> = { Status: 'canceled' }) =>
  acme.post<Shown>(`${acme.messages}/${sid}.json`, form);
const read = async (sid: string) => (await acme.get<Shown>(`${acme.messages}/${sid}.json`)).body;
const reaches = (sid: string, status: string) =>
  eventually(`${sid} to be ${status}`, async () => {
    const shown = await read(sid);
    return shown.status === status && shown;
  });
const list = (query = '') => acme.get<ShownPage>(`${acme.messages}.json${query}`);
const later = (hours: number) => new Date(app.clock.nowMs() + hours * 3_600_000).toISOString();
const notFound = { status: 404, code: 20404 };
const invalid = { status: 400, code: 60200 };

describe('create', () => {
  test('201 is the message of the native API, with Location; uri leaves out /twilio', async () => {
    const form = text({ ValidityPeriod: '3600' });
    const { status, headers, body } = await create(form);
    assert.equal(status, 201);
    const id = idOf('SM', body.sid) ?? '';
    assert.equal(headers.get('location'), `/sms/v1/messages/${id}`);
    assert.equal(body.uri, `${acme.messages}/${body.sid}.json`);
    assert.deepEqual([body.to, body.from, body.body, body.num_segments], [form.To, 'ACME', form.Body, '1']);
    assert.match(body.date_created, /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/);
    const record = await acme.readSms(id);
    assert.deepEqual([record.to, record.message], [form.To, form.Body]);
    assert.equal(Date.parse(record.expires_at) - Date.parse(record.created_at), 3_600_000);
    await reaches(body.sid, 'sent');
    app.clock.advance(100);
    const shown = await reaches(body.sid, 'delivered');
    assert.ok(shown.date_sent !== null);
    assert.deepEqual([shown.error_code, shown.error_message], [null, null]);
  });

  test('a text that carriers refuse has a number and a reason', async () => {
    const { body } = await create(text({ To: '+15005550114' }));
    const { error_code, error_message } = await reaches(body.sid, 'failed');
    assert.ok(Number.isInteger(error_code) && error_message !== null);
    const undelivered = await create(text({ To: '+15005550111' }));
    await reaches(undelivered.body.sid, 'sent');
    app.clock.advance(100);
    assert.ok(Number.isInteger((await reaches(undelivered.body.sid, 'undelivered')).error_code));
  });

  test('MessagingServiceSid stands for the name of the application in the sandbox', async () => {
    const { From: _, ...form } = text({ MessagingServiceSid: acme.account.messaging_service_sid });
    const { status, body } = await create(form);
    assert.deepEqual(
      [status, body.from, body.messaging_service_sid],
      [201, 'ACME', acme.account.messaging_service_sid],
    );
    const both = await create({ ...form, From: 'SHOP' });
    assert.equal(both.body.from, 'SHOP');
    assertTwilioError(await create({ ...form, MessagingServiceSid: sidOf('MG', `app_${'0'.repeat(26)}`) }), notFound);
  });

  test('SmartEncoded substitutes characters', async () => {
    const Body = 'It’s on its way';
    const plain = await create(text({ Body: Body.repeat(6), SmartEncoded: 'false' }));
    const smart = await create(text({ Body: Body.repeat(6), SmartEncoded: 'true' }));
    assert.deepEqual([plain.body.num_segments, smart.body.num_segments], ['2', '1']);
  });

  test('400, 21211: a bad To; nothing is kept', async () => {
    const before = await countMessages(app, acme.id);
    const { To: _, ...without } = text();
    for (const form of [without, text({ To: '' }), text({ To: '07700900123' }), text({ To: 'ACME' })])
      assertTwilioError(await create(form), { status: 400, code: 21211 });
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('400, 60200: every other bad parameter, named as the caller knows it', async () => {
    const before = await countMessages(app, acme.id);
    const { Body: _body, ...bodiless } = text();
    const { From: _from, ...anonymous } = text();
    const wrong: [Record<string, string>, RegExp][] = [
      [bodiless, /: Body /],
      [anonymous, /: From /],
      [text({ From: '!' }), /: From /],
      [text({ Body: '' }), /: Body /],
      [text({ Body: 'x'.repeat(1531) }), /: Body /],
      [text({ Body: 'x'.repeat(5000) }), /: Body must have at most/],
      [text({ Body: 'a\0' }), /: Body must not contain/],
      [text({ ValidityPeriod: '1' }), /: ValidityPeriod /],
      [text({ ValidityPeriod: 'soon' }), /: ValidityPeriod /],
      [text({ SmartEncoded: 'perhaps' }), /: SmartEncoded /],
      [text({ SendAt: later(1) }), /: ScheduleType is required/],
      [text({ ScheduleType: 'fixed' }), /: SendAt is required/],
      [text({ SendAt: 'tomorrow', ScheduleType: 'fixed' }), /: SendAt /],
      [text({ SendAt: later(24 * 8), ScheduleType: 'fixed' }), /: SendAt /],
      [text({ SendAt: later(1), ScheduleType: 'daily' }), /: ScheduleType must be fixed/],
      [text({ MediaUrl: 'https://example.com/a.png' }), /: MediaUrl is not supported/],
      [text({ ContentSid: 'HX1' }), /: ContentSid is not supported/],
    ];
    for (const [form, named] of wrong) {
      const answer = await create(form);
      assertTwilioError(answer, invalid);
      assert.match((answer.body as unknown as TwilioErrorBody).message, named, JSON.stringify(form).slice(0, 200));
    }
    assert.equal(await countMessages(app, acme.id), before);
  });

  test('400, 60200: a StatusCallback that must not be called', async () => {
    for (const url of [
      ...['', 'not a url', 'ftp://example.com/', 'http://10.0.0.1/', 'http://[::ffff:10.0.0.1]/', 'http://0x0a000001/'],
      ...['https://user:secret@example.com/', 'https://169.254.169.254/latest', 'https://example.com/#part'],
      `https://example.com/${'x'.repeat(2048)}`,
      // Percent-encoded it is too long.
      `https://example.com/${'é'.repeat(500)}`,
    ]) {
      const answer = await create(text({ StatusCallback: url }));
      assertTwilioError(answer, invalid);
      assert.match((answer.body as unknown as TwilioErrorBody).message, /: StatusCallback /);
    }
  });

  test('400, 21610: the recipient has opted out; the record exists', async () => {
    const form = text();
    const path = `/sms/v1/opt-outs/${encodeURIComponent(form.To)}`;
    assert.equal((await send(app, 'PUT', path, { headers: acme.key })).status, 200);
    const answer = await create(form);
    assertTwilioError(answer, { status: 400, code: 21610 });
    const id = answer.headers.get('location')?.split('/').at(-1) ?? '';
    const record = await acme.readSms(id);
    assert.deepEqual([record.status, record.error?.code], ['failed', 'blocked_by_recipient']);
    const shown = await read(sidOf('SM', id));
    assert.deepEqual([shown.status, shown.error_code], ['failed', 21610]);
  });
});

describe('schedule and cancel', () => {
  test('a scheduled text is canceled once', async () => {
    const { body } = await create(text({ SendAt: later(1), ScheduleType: 'fixed' }));
    assert.equal(body.status, 'scheduled');
    const answer = await cancel(body.sid);
    assert.deepEqual([answer.status, answer.body.status], [200, 'canceled']);
    assertTwilioError(await cancel(body.sid), { status: 409, code: 20409 });
  });

  test('400 for another change, 404 for what is not there', async () => {
    const { body } = await create(text({ SendAt: later(1), ScheduleType: 'fixed' }));
    assertTwilioError(await cancel(body.sid, {}), invalid);
    assertTwilioError(await cancel(body.sid, { Status: 'sent' }), invalid);
    assertTwilioError(await cancel(body.sid, { Body: '' }), invalid);
    assert.equal((await read(body.sid)).status, 'scheduled');
    assertTwilioError(await cancel(`SM${'0'.repeat(32)}`), notFound);
    assertTwilioError(await cancel('nothing'), notFound);
    assertTwilioError(await acme.get(`${acme.messages}/${body.sid}`), notFound);
  });
});

describe('list', () => {
  test('three pages by next_page_uri, newest first, each message once', async () => {
    const caller = await createTwilioCaller(app);
    const sids: string[] = [];
    for (let sent = 0; sent < 7; sent++)
      sids.unshift(
        (await caller.post<Shown>(`${caller.messages}.json`, { To: '+447700900123', From: 'ACME', Body: `${sent}` }))
          .body.sid,
      );
    const pages: ShownPage[] = [];
    let next: string | null = `${caller.messages}.json?PageSize=3`;
    while (next !== null) {
      const { status, body }: { status: number; body: ShownPage } = await caller.get<ShownPage>(next);
      assert.equal(status, 200);
      pages.push(body);
      next = body.next_page_uri;
    }
    assert.deepEqual(
      pages.map(({ messages }) => messages.length),
      [3, 3, 1],
    );
    assert.deepEqual(
      pages.flatMap(({ messages }) => messages.map(({ sid }) => sid)),
      sids,
    );
    assert.deepEqual(
      pages.map(({ page, start, end, page_size }) => [page, start, end, page_size]),
      [
        [0, 0, 2, 3],
        [1, 3, 5, 3],
        [2, 6, 6, 3],
      ],
    );
    assert.equal((await caller.get(pages[1]?.uri ?? '')).status, 200);
    const first = await caller.get<ShownPage>(pages[2]?.first_page_uri ?? '');
    assert.deepEqual([first.body.page, first.body.messages[0]?.sid], [0, sids[0]]);
  });

  test('To filters; an empty page has no next one', async () => {
    const { body } = await create(text());
    const found = await list(`?To=${encodeURIComponent(body.to)}`);
    assert.deepEqual(
      found.body.messages.map(({ sid }) => sid),
      [body.sid],
    );
    assert.equal(found.body.next_page_uri, null);
    const none = await list(`?To=${encodeURIComponent(acme.newNumber())}`);
    assert.deepEqual([none.body.messages, none.body.start, none.body.end], [[], 0, 0]);
    assert.deepEqual((await list('?To=me')).body.messages, []);
  });

  test('400: filters that we do not have, pages that are not ours', async () => {
    for (const query of [
      ...['From=ACME', 'DateSent=2026-01-31', 'DateSent%3E=2026-01-31', 'DateSent%3C=2026-01-31'],
      ...['PageSize=0', 'PageSize=1001', 'PageSize=x', 'Page=-1', 'PageToken=x', `PageToken=PASM${'g'.repeat(32)}`],
    ]) {
      const answer = await list(`?${query}`);
      assertTwilioError(answer, invalid);
      const { message } = answer.body as unknown as TwilioErrorBody;
      assert.ok(message.includes(decodeURIComponent(query.split('=', 1)[0] ?? '')), message);
    }
  });

  test('a page has at most 100 messages', async () => {
    assert.equal((await list('?PageSize=1000')).body.page_size, 100);
  });
});

test("404, 20404: another application's account and messages, and texts of other APIs", async () => {
  const stranger = await createTwilioCaller(app);
  const { body } = await create(text({ SendAt: later(1), ScheduleType: 'fixed' }));
  for (const base of [stranger.messages, acme.messages]) {
    assertTwilioError(await stranger.get(`${base}/${body.sid}.json`), notFound);
    assertTwilioError(await stranger.post(`${base}/${body.sid}.json`, { Status: 'canceled' }), notFound);
  }
  assertTwilioError(await stranger.get(`${acme.messages}.json`), notFound);
  assertTwilioError(await stranger.post(`${acme.messages}.json`, text()), notFound);
  const messaging = await acme.messaging();
  assertTwilioError(await acme.get(`${acme.messages}/${sidOf('SM', messaging.body.id)}.json`), notFound);
  assert.equal((await read(body.sid)).status, 'scheduled');
});
