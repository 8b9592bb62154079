// The portal's reads of an application's events: all APIs, for the page of events and for the stories of records.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import type { EventsPage } from '../../src/portal/developer/event-api.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { beginFeed, writeEvents } from '../support/event-feed.ts';
import { openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createProduction } from '../support/production.ts';
import { createSender, type Sender } from '../support/texts.ts';

const pathOf = (sender: Sender, rest = '') => `/portal/v1/applications/${sender.id}/events${rest}`;
const read = (sender: Sender, query = '') => sender.developer.send<EventsPage>('GET', pathOf(sender, query));

async function isListening(app: TestApp, sender: Sender): Promise<boolean> {
  const { count } = await app.db.database.query('select from event_listener where application_id = $1', [
    uuidOf(sender.id),
  ]);
  return count === 1;
}

describe('in the sandbox', () => {
  let app: TestApp;
  let acme: Sender;
  let eve: Sender;
  before(async () => {
    app = await createTestApp();
    acme = await createSender(app);
    eve = await createSender(app);
  });
  after(() => app.close());

  test('a look makes the application listen; then all its events are there, oldest first, in pages', async () => {
    const first = await read(acme);
    assert.equal(first.status, 200);
    assert.deepEqual([first.body.data, first.body.listening], [[], true]);
    assert.match(first.body.next_cursor ?? '', /^evt_/);
    const subjects = Array.from({ length: 5 }, () => newId('msg', app.clock));
    const apis = ['sms', 'messaging', 'sms', 'messaging', 'sms'] as const;
    await writeEvents(
      app.db.database,
      acme.id,
      subjects.map((subject, index) => ({ subject, api: apis[index] ?? 'sms' })),
    );
    const found: string[] = [];
    for (let query = '?limit=2'; ; ) {
      const { body } = await read(acme, query);
      if (body.data.length === 0) break;
      assert.ok(body.data.length <= 2, 'at most the limit');
      found.push(...body.data.map(({ subject }) => subject));
      query = `?limit=2&cursor=${body.next_cursor}`;
    }
    assert.deepEqual(found, subjects);
    const chosen = await read(acme, `?subject=${subjects[3]}`);
    assert.deepEqual(
      chosen.body.data.map(({ subject, api }) => [subject, api]),
      [[subjects[3], 'messaging']],
    );
    assert.equal((await read(acme, '?type=message.failed')).body.data.length, 0);
  });

  test('the newest ones, with a place to go on from behind them; also when a filter leaves most of them out', async () => {
    const sender = await createSender(app);
    await read(sender);
    const subjects = Array.from({ length: 12 }, () => newId('msg', app.clock));
    const given = subjects.map((subject, index) => ({ subject, api: index === 2 ? 'messaging' : 'sms' }) as const);
    await writeEvents(app.db.database, sender.id, given);
    const { status, body } = await read(sender, '?from=newest&limit=3');
    assert.deepEqual([status, body.data.map(({ subject }) => subject)], [200, subjects.slice(-3)]);
    assert.deepEqual((await read(sender, `?cursor=${body.next_cursor}`)).body.data, []);
    const [one] = (await read(sender, `?from=newest&subject=${subjects[2]}`)).body.data;
    assert.equal(one?.subject, subjects[2]);
    for (const query of ['?from=last', `?from=newest&cursor=${body.next_cursor}`])
      assert.equal((await read(sender, query)).status, 400, query);
  });

  test('the events of one text are its story', async () => {
    await read(acme);
    const { body: sent } = await acme.sms();
    const story = await eventually('both events', async () => {
      app.clock.advance(100);
      const { body } = await read(acme, `?subject=${sent.id}`);
      return body.data.length === 2 && body.data;
    });
    assert.deepEqual(
      story.map(({ type, sequence }) => [type, sequence]),
      [
        ['message.sent', 1],
        ['message.delivered', 2],
      ],
    );
  });

  test('a stream emits events of all APIs live, and resumes from a cursor', async () => {
    const { body } = await read(acme);
    const headers = { cookie: acme.developer.cookie };
    const stream = await openEvents(app, pathOf(acme, '/stream'), headers);
    assert.equal(stream.status, 200);
    const subjects = [newId('msg', app.clock), newId('ver', app.clock)] as const;
    await writeEvents(app.db.database, acme.id, [
      { subject: subjects[0] },
      { subject: subjects[1], api: 'verify', type: 'verification.approved' },
    ]);
    await eventually('both', () => stream.events().length === 2);
    assert.deepEqual(
      stream.events().map(({ data }) => JSON.parse(data).subject),
      subjects,
    );
    const again = await openEvents(app, pathOf(acme, `/stream?cursor=${body.next_cursor}`), headers);
    await eventually('both', () => again.events().some(({ data }) => JSON.parse(data).subject === subjects[1]));
    stream.close();
    again.close();
  });

  test('a stream ends when the session or the application ends', async () => {
    const sender = await createSender(app);
    const headers = { cookie: sender.developer.cookie };
    const stream = await openEvents(app, pathOf(sender, '/stream'), headers);
    assert.equal(stream.status, 200);
    assert.equal((await sender.developer.send('DELETE', `/portal/v1/applications/${sender.id}`)).status, 204);
    assert.equal(await stream.ended, 'ended');
    const other = await openEvents(app, pathOf(eve, '/stream'), { cookie: eve.developer.cookie });
    assert.equal((await eve.developer.send('DELETE', '/portal/v1/sessions/current')).status, 204);
    assert.equal(await other.ended, 'ended');
  });

  test('401 without a session, 404 for another account’s application, 400 by field, 410 for an old cursor', async () => {
    const mallory = await createSender(app);
    for (const rest of ['', '/stream']) {
      assert.equal((await fetch(app.url + pathOf(acme, rest))).status, 401);
      assert.equal((await mallory.developer.send('GET', pathOf(acme, rest))).status, 404);
      assert.equal((await acme.developer.send('GET', pathOf(acme, `${rest}?cursor=x`))).status, 400);
      assert.equal((await acme.developer.send('GET', pathOf(acme, `${rest}?type=x`))).status, 400);
      assert.equal((await acme.developer.send('GET', pathOf(acme, `${rest}?subject=x`))).status, 400);
    }
    assert.equal((await mallory.developer.send('POST', pathOf(acme, '/listening'))).status, 404);
    const old = await beginFeed(app, mallory.key);
    await app.db.database.query('delete from event_listener where application_id = $1', [uuidOf(mallory.id)]);
    await writeEvents(app.db.database, acme.id, [{ subject: newId('msg', app.clock) }]);
    assert.equal((await mallory.developer.send('GET', pathOf(mallory, `?cursor=${old}`))).status, 410);
  });
});

describe('in production', () => {
  test('a look costs nothing: the application listens when its developer asks for it', async (t) => {
    const { app, createCaller } = await createProduction();
    t.after(() => app.close());
    const sender = await createCaller({ apis: ['sms'] });
    const before = await read(sender);
    assert.deepEqual([before.status, before.body], [200, { data: [], next_cursor: null, listening: false }]);
    const refused = await sender.developer.send('GET', pathOf(sender, '/stream'));
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
    assert.equal(await isListening(app, sender), false);
    const asked = await sender.developer.send('POST', pathOf(sender, '/listening'));
    assert.deepEqual([asked.status, asked.body], [200, { listening: true }]);
    assert.equal(await isListening(app, sender), true);
    await writeEvents(app.db.database, sender.id, [{ subject: newId('msg', app.clock) }]);
    const { body } = await read(sender);
    assert.deepEqual([body.data.length, body.listening], [1, true]);
  });
});
