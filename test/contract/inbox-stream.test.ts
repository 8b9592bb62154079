// Section 11 of the contract: GET /sandbox/v1/inbox/stream, the same as server-sent events.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { type EventStream, openEvents } from '../support/events.ts';
import { createSender, type Page, type Sender, until } from '../support/texts.ts';

const path = '/sandbox/v1/inbox/stream';

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp();
  acme = await createSender(app);
  eve = await createSender(app);
});
after(() => app.close());

const messageIds = (stream: EventStream) => stream.events().map(({ data }) => JSON.parse(data).message_id as string);
const shows = (stream: EventStream, id: string) => until(`${id} in the stream`, () => messageIds(stream).includes(id));

describe('the stream', () => {
  test('gets new texts live, one event of type `text` each, as the list shows them', async () => {
    const stream = await openEvents(app, path, acme.key);
    assert.equal(stream.status, 200);
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.ok(stream.headers.get('x-correlation-id'));
    const { body } = await acme.sms({ message: 'Two\nlines “😀”\r\n\r\ndata: x' });
    await shows(stream, body.id);
    const [event, ...more] = stream.events();
    assert.deepEqual([event?.type, more.length], ['text', 0]);
    const list = await send<Page<unknown>>(app, 'GET', '/sandbox/v1/inbox', { headers: acme.key });
    assert.deepEqual(JSON.parse(event?.data ?? ''), list.body.data[0]);
    stream.close();
  });

  test('a text that arrives as soon as the stream is open is not missed, 8 times over', async () => {
    for (let i = 0; i < 8; i++) {
      const stream = await openEvents(app, path, acme.key);
      await shows(stream, (await acme.sms()).body.id);
      stream.close();
      await stream.ended;
    }
  });

  test('only this application’s, only ?to=, by key, token or session', async () => {
    const streams = await Promise.all([
      openEvents(app, path, acme.token),
      openEvents(app, `${path}?application_id=${acme.id}`, { cookie: acme.developer.cookie }),
      openEvents(app, `${path}?to=+447700900777`, acme.key),
    ]);
    const others = await eve.sms();
    const usual = await acme.sms();
    const chosen = await acme.sms({ to: '+447700900777' });
    for (const stream of streams) await shows(stream, chosen.body.id);
    for (const [index, stream] of streams.entries()) {
      assert.ok(!messageIds(stream).includes(others.body.id));
      if (index < 2) await shows(stream, usual.body.id);
      else assert.deepEqual(messageIds(stream), [chosen.body.id]);
      stream.close();
    }
  });

  test('still hears when thousands of texts have arrived, before and at once; each once, in order', async () => {
    await app.db.database.query(
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, receipt_outcome)
       select 'app_other', '+447700900000', 'msg_' || i, 1, now(), 'delivered' from generate_series(1, 2500) i`,
    );
    const stream = await openEvents(app, path, acme.key);
    const first = await acme.sms();
    await shows(stream, first.body.id);
    const last = await acme.sms();
    await shows(stream, last.body.id);
    await app.db.database.query(
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, receipt_outcome)
       select $1, '+447700900123', $2, 1 + i, now(), 'delivered' from generate_series(1, 2500) i`,
      [acme.id, last.body.id],
    );
    await until('all of them', () => stream.events().length === 2502);
    const ids = stream.events().map(({ id }) => Number(id));
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    );
    stream.close();
  });

  test('survives listeners that come and go at every moment', async () => {
    for (let i = 0; i < 30; i++) {
      const stream = await openEvents(app, path, acme.key);
      stream.close();
      if (i % 3 === 0) await stream.ended;
    }
    const stream = await openEvents(app, path, acme.key);
    await shows(stream, (await acme.sms()).body.id);
    await shows(stream, (await acme.sms()).body.id);
    stream.close();
  });

  test('goes on when the database was away for a moment', async () => {
    const stream = await openEvents(app, path, acme.key);
    await app.db.database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const sent = await until('a text to be accepted', async () => {
      const answer = await acme.sms();
      return answer.status === 201 && answer;
    });
    await shows(stream, sent.body.id);
    stream.close();
  });

  test('ends when the service stops, whoever listens', async () => {
    const other = await createTestApp({ db: app.db });
    const streams = await Promise.all([openEvents(other, path, acme.key), openEvents(other, path, eve.token)]);
    await Promise.all([other.close(), ...streams.map(({ ended }) => ended)]);
    for (const stream of streams) {
      assert.equal(await stream.ended, 'ended', 'not cut off when the grace time is over');
      assert.match(stream.raw(), /\n\n$/);
    }
  });
});
