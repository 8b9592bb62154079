// run: on both lanes
// Section 12 of the contract: GET /events/v1/stream, the feed as server-sent events.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { EmittedEvent } from '../../src/events/event.ts';
import { createEventCursors } from '../../src/events/event-cursor.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken, revokeToken } from '../support/applications.ts';
import { createTestClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { beginFeed, streamPath as path, readFeed, writeEvents } from '../support/event-feed.ts';
import { type EventStream, openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender } from '../support/texts.ts';

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp();
  acme = await createSender(app);
  eve = await createSender(app);
});
after(() => app.close());

const toldBy = (stream: EventStream) => stream.events().map(({ data }) => JSON.parse(data) as EmittedEvent);
const subjectsOf = (stream: EventStream) => toldBy(stream).map(({ subject }) => subject);
const tells = (stream: EventStream, subject: string) =>
  eventually(`${subject} in the stream`, () => subjectsOf(stream).includes(subject));
const newSubject = () => newId('msg', app.clock);
const write = (sender: Sender, ...subjects: string[]) =>
  writeEvents(
    app.db.database,
    sender.id,
    subjects.map((subject) => ({ subject })),
  );
/** The last id of the stream as a browser keeps it: an event without data moves it too. */
const lastIdOf = (stream: EventStream) => [...stream.raw().matchAll(/^id: (.*)\n/gm)].at(-1)?.[1];
const resume = (sender: Sender, id: string, query = '') =>
  openEvents(app, path + query, { ...sender.key, 'Last-Event-ID': id });

/** The service learns a moment later that readers have gone. */
const untilFree = (open: () => Promise<EventStream>) =>
  eventually('a free place', async () => {
    const stream = await open();
    return stream.status === 200 && stream;
  });

describe('the stream', () => {
  test('emits each event as the feed does, with its type and its id', async () => {
    const cursor = await beginFeed(app, acme.key);
    const stream = await openEvents(app, path, acme.key);
    assert.equal(stream.status, 200);
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.deepEqual(
      [stream.headers.get('x-accel-buffering'), stream.headers.get('cache-control')],
      ['no', 'no-store'],
    );
    const { body } = await acme.sms({ message: 'Two\nlines “😀”\r\n\r\ndata: x' });
    await tells(stream, body.id);
    const { body: page } = await readFeed(app, acme.key, { cursor });
    assert.deepEqual(toldBy(stream), page.data);
    for (const { type, id, data } of stream.events()) {
      const event = JSON.parse(data) as EmittedEvent;
      assert.deepEqual([type, id], [event.type, event.id]);
    }
    stream.close();
  });

  test('an event that is written as soon as it is open is not missed, none from before is emitted, 8 times over', async () => {
    for (let i = 0; i < 8; i++) {
      await write(acme, newSubject());
      const stream = await untilFree(() => openEvents(app, path, acme.key));
      const subject = newSubject();
      await write(acme, subject);
      await tells(stream, subject);
      assert.deepEqual(subjectsOf(stream), [subject]);
      stream.close();
    }
  });

  test('only this application’s and this API’s events, only a type, only a record', async () => {
    const subjects = Array.from({ length: 3 }, newSubject) as [string, string, string];
    const streams = await Promise.all([
      untilFree(() => openEvents(app, path, acme.key)),
      untilFree(() => openEvents(app, path, acme.token)),
      untilFree(() => openEvents(app, `${path}?type=message.failed`, acme.key)),
      untilFree(() => openEvents(app, `${path}?subject=${subjects[2]}`, acme.key)),
      openEvents(app, path, eve.key),
    ]);
    await writeEvents(app.db.database, eve.id, [{ subject: subjects[0] }]);
    await writeEvents(app.db.database, acme.id, [
      { subject: subjects[0], type: 'message.failed' },
      { subject: subjects[1], api: 'messaging' },
      { subject: subjects[2] },
    ]);
    const expected = [[subjects[0], subjects[2]], [subjects[1]], [subjects[0]], [subjects[2]], [subjects[0]]];
    for (const [index, stream] of streams.entries()) {
      await eventually('its events', () => stream.events().length >= (expected[index]?.length ?? 0));
      assert.deepEqual(subjectsOf(stream), expected[index]);
      stream.close();
    }
  });

  test('ends when the service stops, also while a reader catches up', async () => {
    const sender = await createSender(app);
    const cursor = await beginFeed(app, sender.key);
    await write(sender, ...Array.from({ length: 3000 }, newSubject));
    const other = await createTestApp({ db: app.db, clock: app.clock, delivery: 'held' });
    const streams = await Promise.all([
      openEvents(other, path, sender.key),
      openEvents(other, path, sender.token),
      openEvents(other, `${path}?cursor=${cursor}`, sender.key),
    ]);
    await Promise.all([other.close(), ...streams.map(({ ended }) => ended)]);
    for (const stream of streams) {
      assert.equal(await stream.ended, 'ended', 'not cut off when the grace time is over');
      assert.match(stream.raw(), /\n\n$/);
    }
  });
});

describe('Last-Event-ID', () => {
  test('what was missed comes first, then what happens: none missing, none twice', async () => {
    const sender = await createSender(app);
    const stream = await openEvents(app, path, sender.key);
    const subjects = Array.from({ length: 250 }, newSubject);
    await write(sender, ...subjects.slice(0, 10));
    await eventually('ten', () => stream.events().length === 10);
    const id = stream.events()[4]?.id ?? '';
    stream.close();
    await write(sender, ...subjects.slice(10, 240));
    const again = await resume(sender, id);
    await write(sender, ...subjects.slice(240));
    await eventually('the last', () => subjectsOf(again).includes(subjects.at(-1) ?? ''));
    assert.deepEqual(subjectsOf(again), subjects.slice(5));
    again.close();
  });

  test('a reader that has received nothing yet has a cursor to resume from', async () => {
    const sender = await createSender(app);
    const stream = await openEvents(app, path, sender.key);
    const id = await eventually('its place', () => lastIdOf(stream));
    stream.close();
    const subject = newSubject();
    await write(sender, subject);
    const again = await resume(sender, id);
    await tells(again, subject);
    assert.deepEqual(subjectsOf(again), [subject]);
    again.close();
  });

  test('the cursor of the first request can be given in the query; a later Last-Event-ID wins', async () => {
    const sender = await createSender(app);
    const cursor = await beginFeed(app, sender.key);
    const [one, two] = [newSubject(), newSubject()];
    await write(sender, one, two);
    const stream = await openEvents(app, `${path}?cursor=${cursor}`, sender.key);
    await tells(stream, two);
    assert.deepEqual(subjectsOf(stream), [one, two]);
    const again = await resume(sender, stream.events()[0]?.id ?? '', `?cursor=${cursor}`);
    await tells(again, two);
    assert.deepEqual(subjectsOf(again), [two]);
    stream.close();
    again.close();
  });

  test('while events are written all the time, by transactions that overtake each other', async () => {
    const sender = await createSender(app);
    const start = await beginFeed(app, sender.key);
    let stopped = false;
    let written = 0;
    const writers = Array.from({ length: 4 }, async (_, index) => {
      while (!stopped) {
        await app.db.database.transaction(async (tx) => {
          await writeEvents(tx, sender.id, [{ subject: newSubject() }]);
          await new Promise((done) => setTimeout(done, index * 4));
        });
        written++;
      }
    });
    const told: string[] = [];
    let last = start;
    for (let round = 0; round < 8; round++) {
      const stream = await untilFree(() => resume(sender, last));
      await eventually('some events', () => stream.events().length >= round * 2 || undefined);
      stream.close();
      await stream.ended;
      told.push(...toldBy(stream).map(({ id }) => id));
      last = lastIdOf(stream) ?? last;
    }
    stopped = true;
    await Promise.all(writers);
    const stream = await untilFree(() => resume(sender, last));
    await eventually('all of them', () => told.length + stream.events().length >= written || undefined);
    told.push(...toldBy(stream).map(({ id }) => id));
    stream.close();
    const ids = createEventIds(app.keys);
    const { rows } = await app.db.database.query<{ position: number; timeMs: number }>(
      'select position, time as "timeMs" from event where application_id = $1 order by position',
      [uuidOf(sender.id)],
    );
    assert.deepEqual(
      told,
      rows.map(({ position, timeMs }) => ids.idOf(position, timeMs)),
    );
  });

  test('400 for what is no cursor, 410 for what is behind a gap, also by HEAD', async () => {
    const sender = await createSender(app);
    for (const id of ['x', '1', 'evt_zzzzzzzzzzzzzzzzzzzzzzzzzz', '9'.repeat(200)])
      for (const method of ['GET', 'HEAD']) {
        const headers = { ...sender.key, 'Last-Event-ID': id };
        const answer = await send<{ details: { field: string }[] }>(app, method, path, { headers });
        assert.equal(answer.status, 400, id);
        if (method === 'GET') assert.equal(answer.body.details[0]?.field, 'Last-Event-ID');
      }
    for (const query of ['cursor=x', 'type=x', 'subject=x'])
      assert.equal((await send(app, 'GET', `${path}?${query}`, { headers: sender.key })).status, 400, query);
    const before = createEventCursors(app.keys).cursorAt(sender.id, 1);
    const old = await send(app, 'GET', path, { headers: { ...sender.key, 'Last-Event-ID': before } });
    assert.deepEqual([old.status, old.body.code], [410, 'CURSOR_EXPIRED']);
  });
});

describe('a reader', () => {
  test('gets one of 5 places besides 5 of the inbox, else a 409; HEAD takes none', async () => {
    const sender = await createSender(app);
    for (let i = 0; i < 8; i++) assert.equal((await send(app, 'HEAD', path, { headers: sender.key })).status, 200);
    const opened = await Promise.all(
      Array.from({ length: 12 }, (_, i) => openEvents(app, path, i % 2 === 0 ? sender.key : sender.token)),
    );
    const open = opened.filter(({ status }) => status === 200);
    assert.deepEqual([open.length, opened.filter(({ status }) => status === 409).length], [5, 7]);
    const refused = await send(app, 'GET', path, { headers: sender.key });
    assert.deepEqual([refused.status, refused.body.code], [409, 'TOO_MANY_STREAMS']);
    assert.match(String(refused.body.message), /GET \/events\/v1\/events/);
    const inbox = await openEvents(app, '/sandbox/v1/inbox/stream', sender.key);
    assert.equal(inbox.status, 200);
    inbox.close();
    for (const stream of open) stream.close();
    (await untilFree(() => openEvents(app, path, sender.key))).close();
  });

  test('a reader that breaks off its connection, at any moment, frees its slot', async () => {
    const sender = await createSender(app);
    await beginFeed(app, sender.key);
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\napikey: ${sender.apiKey}\r\n\r\n`;
    for (let i = 0; i < 15; i++) {
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((done) => socket.write(request, done));
      if (i % 3 > 0) await new Promise((done) => setTimeout(done, i));
      if (i % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => untilFree(() => openEvents(app, path, sender.key))),
    );
    const subject = newSubject();
    await write(sender, subject);
    for (const stream of streams) {
      await tells(stream, subject);
      stream.close();
    }
  });

  test('loses its stream with its key, its token, its application and at its token’s end; others go on', async (t) => {
    const clock = createTestClock(app.clock.nowMs());
    const node = await createTestApp({ db: app.db, clock, delivery: 'held' });
    t.after(() => node.close());
    const sender = await createSender(node);
    const own = `/portal/v1/applications/${sender.id}`;
    const made = await sender.developer.send<{ api_key: string }>('POST', `${own}/keys`, { overlap_seconds: 600 });
    const token = await getToken(node, sender.client, 'messaging:send');
    const [byKey, byToken, byOtherToken, byOtherKey] = (await Promise.all(
      [sender.key, bearer(token), sender.token, { apikey: made.body.api_key }].map((headers) =>
        openEvents(node, path, headers),
      ),
    )) as [EventStream, EventStream, EventStream, EventStream];
    await sender.developer.send('DELETE', `${own}/keys/${sender.keyId}`);
    await revokeToken(node, sender.client, token);
    assert.deepEqual(await Promise.all([byKey.ended, byToken.ended]), ['ended', 'ended']);
    const subject = newSubject();
    await writeEvents(app.db.database, sender.id, [{ subject }, { subject, api: 'messaging' }]);
    await tells(byOtherKey, subject);
    await tells(byOtherToken, subject);
    assert.equal((await sender.developer.send('DELETE', own)).status, 204);
    assert.deepEqual(await Promise.all([byOtherKey.ended, byOtherToken.ended]), ['ended', 'ended']);
    const other = await createSender(node);
    const [untilExp, goesOn] = [await openEvents(node, path, other.token), await openEvents(node, path, other.key)];
    clock.advance(3_600_000);
    assert.equal(await untilExp.ended, 'ended', 'at its exp');
    await writeEvents(app.db.database, other.id, [{ subject }]);
    await tells(goesOn, subject);
    goesOn.close();
  });
});
