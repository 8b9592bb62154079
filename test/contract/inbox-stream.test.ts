// Section 11 of the contract: GET /sandbox/v1/inbox/stream, the same as server-sent events.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { type EventStream, openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Page, type Sender } from '../support/texts.ts';

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
/** On the handset, in the order of their arrival. */
const arrived = async ({ key }: Sender) => {
  const { body } = await send<Page<{ message_id: string }>>(app, 'GET', '/sandbox/v1/inbox', { headers: key });
  return body.data.map(({ message_id }) => message_id).toReversed();
};
const shows = (stream: EventStream, id: string) =>
  eventually(`${id} in the stream`, () => messageIds(stream).includes(id));

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
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, delivered)
       select gen_random_uuid(), '+447700900000', gen_random_uuid(), 1, now(), true from generate_series(1, 2500) i`,
    );
    const stream = await openEvents(app, path, acme.key);
    const first = await acme.sms();
    await shows(stream, first.body.id);
    const last = await acme.sms();
    await shows(stream, last.body.id);
    await app.db.database.query(
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, delivered)
       select $1, '+447700900123', $2, 1 + i, now(), true from generate_series(1, 2500) i`,
      [uuidOf(acme.id), uuidOf(last.body.id)],
    );
    await eventually('all of them', () => stream.events().length === 2502);
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
    // The service learns a moment later that they have gone.
    const stream = await eventually('a free place', async () => {
      const opened = await openEvents(app, path, acme.key);
      return opened.status === 200 && opened;
    });
    await shows(stream, (await acme.sms()).body.id);
    await shows(stream, (await acme.sms()).body.id);
    stream.close();
  });

  test('goes on when the database was away for a moment', async () => {
    const stream = await openEvents(app, path, acme.key);
    await app.db.database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const sent = await eventually('a text to be accepted', async () => {
      const answer = await acme.sms();
      return answer.status === 201 && answer;
    });
    await shows(stream, sent.body.id);
    stream.close();
  });

  test('no proxy holds it back, and none keeps it', async () => {
    const stream = await openEvents(app, path, eve.key);
    const { headers } = stream;
    assert.deepEqual([headers.get('x-accel-buffering'), headers.get('cache-control')], ['no', 'no-store']);
    stream.close();
  });

  test('ends for every listener when the service stops', async () => {
    const other = await createTestApp({ db: app.db, clock: app.clock });
    const streams = await Promise.all([openEvents(other, path, acme.key), openEvents(other, path, eve.token)]);
    await Promise.all([other.close(), ...streams.map(({ ended }) => ended)]);
    for (const stream of streams) {
      assert.equal(await stream.ended, 'ended', 'not cut off when the grace time is over');
      assert.match(stream.raw(), /\n\n$/);
    }
  });
});

describe('Last-Event-ID: a reader that comes back goes on where it was', () => {
  const resume = (sender: Sender, id: string, query = '') =>
    openEvents(app, path + query, { ...sender.key, 'Last-Event-ID': id });

  test('what it missed comes first, then what arrives: none missing, none twice', async () => {
    const sender = await createSender(app);
    const stream = await openEvents(app, path, sender.key);
    const first = await sender.sms();
    await shows(stream, first.body.id);
    const { id } = stream.events()[0] as { id: string };
    stream.close();
    const missed: string[] = [];
    for (let i = 0; i < 3; i++) missed.push((await sender.sms()).body.id);
    await eventually('the texts on the handset', async () => (await arrived(sender)).length === 4);
    const again = await resume(sender, id);
    const live = await sender.sms();
    await shows(again, live.body.id);
    assert.deepEqual(messageIds(again), (await arrived(sender)).slice(1));
    assert.deepEqual(new Set(messageIds(again)), new Set([...missed, live.body.id]));
    again.close();
  });

  test('while texts arrive all the time, 10 times over', async () => {
    const sender = await createSender(app);
    const sent: string[] = [];
    let stopped = false;
    const sending = (async () => {
      while (!stopped) sent.push((await sender.sms()).body.id);
    })();
    const told: string[] = [];
    let last = '0';
    for (let round = 0; round < 10; round++) {
      const stream = await resume(sender, last);
      if (stream.status === 409) continue;
      const wanted = round * 3;
      await eventually('some texts', () => stream.events().length >= Math.min(wanted, 5));
      stream.close();
      await stream.ended;
      told.push(...messageIds(stream));
      last = stream.events().at(-1)?.id ?? last;
    }
    stopped = true;
    await sending;
    const stream = await eventually('a free place', async () => {
      const opened = await resume(sender, last);
      return opened.status === 200 && opened;
    });
    await eventually('all of them', () => told.length + stream.events().length === sent.length);
    assert.deepEqual(new Set([...told, ...messageIds(stream)]), new Set(sent));
    stream.close();
  });

  test('only ?to=, and at most the last 1,000', async () => {
    const sender = await createSender(app);
    const { body } = await sender.sms({ to: '+447700900777' });
    await eventually('the text on the handset', async () => (await arrived(sender)).length === 1);
    await app.db.database.query(
      `insert into handset_text (application_id, recipient, message_id, attempt, received_at, delivered)
       select $1, '+447700900123', $2, 1 + i, now(), true from generate_series(1, 1200) i`,
      [uuidOf(sender.id), uuidOf(body.id)],
    );
    const all = await resume(sender, '0');
    await eventually('the last 1,000', () => all.events().length === 1000);
    const chosen = await resume(sender, '0', '?to=+447700900777');
    await shows(chosen, body.id);
    assert.equal(chosen.events().length, 1);
    all.close();
    chosen.close();
  });

  test('an id that is none of ours is as good as none', async () => {
    const sender = await createSender(app);
    const reader = await openEvents(app, path, sender.key);
    await shows(reader, (await sender.sms()).body.id);
    reader.close();
    for (const id of ['', 'x', '-1', '1.5', '9'.repeat(16), '9'.repeat(200)]) {
      const stream = await resume(sender, id);
      assert.equal(stream.status, 200, id);
      const { body } = await sender.sms();
      await shows(stream, body.id);
      assert.deepEqual(messageIds(stream), [body.id], id);
      stream.close();
      await stream.ended;
    }
  });
});

describe('409 TOO_MANY_STREAMS', () => {
  test('at most 5 for an application, however many ask at once, by whatever credential; a place that is left is free', async () => {
    const sender = await createSender(app);
    const cookie = { cookie: sender.developer.cookie };
    const opened = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 2
          ? openEvents(app, `${path}?application_id=${sender.id}`, cookie)
          : openEvents(app, path, i % 3 === 0 ? sender.key : sender.token),
      ),
    );
    const open = opened.filter(({ status }) => status === 200);
    assert.deepEqual([open.length, opened.filter(({ status }) => status === 409).length], [5, 7]);
    const refused = await send(app, 'GET', path, { headers: sender.key });
    assert.deepEqual([refused.status, refused.body.code], [409, 'TOO_MANY_STREAMS']);
    assert.match(String(refused.body.message), /Close one/);
    const other = await openEvents(app, path, eve.key);
    assert.equal(other.status, 200, 'another application has places of its own');
    other.close();
    open[0]?.close();
    const again = await eventually('the place to be free', async () => {
      const stream = await openEvents(app, path, sender.key);
      return stream.status === 200 && stream;
    });
    for (const stream of [...open, again]) stream.close();
  });

  test('HEAD takes no place', async () => {
    const sender = await createSender(app);
    for (let i = 0; i < 8; i++) assert.equal((await send(app, 'HEAD', path, { headers: sender.key })).status, 200);
    const streams = await Promise.all(Array.from({ length: 5 }, () => openEvents(app, path, sender.key)));
    assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
    for (const stream of streams) stream.close();
  });
});
