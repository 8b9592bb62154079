// Section 12 of the contract: GET /events/v1/events.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { EmittedEvent, EventType } from '../../src/events/event.ts';
import { createEventCursors } from '../../src/events/event-cursor.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import type { Api } from '../../src/http/route.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createTestClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { beginFeed, feedPath, readFeed, readUntil, refusedFeed, writeEvents } from '../support/event-feed.ts';
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

const typesOf = (events: EmittedEvent[]) => events.map(({ type }) => type);
const lastPosition = async () => {
  const { rows } = await app.db.database.query<{ last: number }>('select last_value as last from event_position');
  return Number(rows[0]?.last);
};

describe('reading', () => {
  test('without a cursor it starts at now: an empty page, and a cursor to go on from', async () => {
    const sender = await createSender(app);
    await beginFeed(app, sender.key);
    await writeEvents(app.db.database, sender.id, [{ subject: newId('msg', app.clock) }]);
    const first = await readFeed(app, sender.key);
    assert.equal(first.status, 200);
    assert.deepEqual(first.body.data, []);
    assert.match(first.body.next_cursor, /^evt_[0-9a-z]{26}$/);
    const again = await readFeed(app, sender.key, { cursor: first.body.next_cursor });
    assert.deepEqual([again.status, again.body.data], [200, []]);
  });

  test('every change of a text is one event, in order, with the record as it was', async () => {
    const cursor = await beginFeed(app, acme.key);
    const { body: sent } = await acme.sms({ reference: 'order 7' });
    const events = await readUntil(app, acme.key, cursor, 2);
    assert.deepEqual(typesOf(events), ['message.sent', 'message.delivered']);
    for (const [index, event] of events.entries()) {
      const { id, time, data, ...rest } = event;
      assert.match(id, /^evt_/);
      assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      assert.deepEqual(rest, {
        type: event.type,
        sequence: index + 1,
        subject: sent.id,
        api: 'sms',
        application_id: acme.id,
        reference: 'order 7',
      });
      assert.equal((data as { status: string }).status, event.type.slice('message.'.length));
    }
    assert.deepEqual(events[1]?.data, await acme.readSms(sent.id));
  });

  test('the id of an event works as a cursor', async () => {
    const cursor = await beginFeed(app, acme.key);
    await acme.sms();
    const [first, second] = await readUntil(app, acme.key, cursor, 2);
    const { body } = await readFeed(app, acme.key, { cursor: first?.id ?? '' });
    assert.deepEqual(body.data, [second]);
  });

  test('each credential sees its own API’s events, and its own application’s', async () => {
    const verifyToken = bearer(await getToken(app, acme.client, 'verify:manage'));
    const credentials = [acme.key, acme.token, verifyToken, eve.key];
    const cursors = await Promise.all(credentials.map((headers) => beginFeed(app, headers)));
    const bySms = (await acme.sms()).body.id;
    const byMessaging = (await acme.messaging()).body.id;
    const started = await send<{ id: string; status: string }>(app, 'POST', '/verify/v1/verifications', {
      body: { to: '+447700900555', channel: 'sms' },
      headers: verifyToken,
    });
    assert.equal(started.status, 200);
    const canceled = await send(app, 'DELETE', `/verify/v1/verifications/${started.body.id}`, { headers: verifyToken });
    assert.equal(canceled.status, 200);
    const byEve = (await eve.sms()).body.id;
    const counts = [2, 2, 1, 2];
    const all = await Promise.all(
      credentials.map((headers, i) => readUntil(app, headers, cursors[i] ?? '', counts[i] ?? 0)),
    );
    assert.deepEqual(
      all.map((events) => [...new Set(events.map(({ subject, api }) => `${api} ${subject}`))]),
      [[`sms ${bySms}`], [`messaging ${byMessaging}`], [`verify ${started.body.id}`], [`sms ${byEve}`]],
    );
    // Nothing else is behind it.
    for (const [index, headers] of credentials.entries()) {
      const { body } = await readFeed(app, headers, { cursor: all[index]?.at(-1)?.id ?? '' });
      assert.deepEqual(body.data, []);
    }
  });

  test('the feed filters by type and by record', async () => {
    const cursor = await beginFeed(app, acme.key);
    const [one, two] = [(await acme.sms()).body.id, (await acme.sms()).body.id];
    await readUntil(app, acme.key, cursor, 4);
    const delivered = await readFeed(app, acme.key, { cursor, type: 'message.delivered' });
    assert.deepEqual(new Set(delivered.body.data.map(({ subject }) => subject)), new Set([one, two]));
    assert.deepEqual([...new Set(typesOf(delivered.body.data))], ['message.delivered']);
    const own = await readFeed(app, acme.key, { cursor, subject: two });
    assert.deepEqual(typesOf(own.body.data), ['message.sent', 'message.delivered']);
    assert.deepEqual([...new Set(own.body.data.map(({ subject }) => subject))], [two]);
    const others = await readFeed(app, eve.key, { cursor: await beginFeed(app, eve.key), subject: two });
    assert.deepEqual(others.body.data, []);
    const tests = await readFeed(app, acme.key, { cursor, type: 'webhook.test' });
    assert.deepEqual([tests.status, tests.body.data], [200, []]);
  });

  test('a filter that matches nothing among thousands goes on in bounded steps, and finds what is behind them', async () => {
    const sender = await createSender(app);
    let cursor = await beginFeed(app, sender.key);
    const subject = newId('msg', app.clock);
    const crowd = Array.from({ length: 4000 }, () => ({ subject: newId('msg', app.clock) }));
    for (let i = 0; i < 3; i++) await writeEvents(app.db.database, sender.id, crowd);
    await writeEvents(app.db.database, sender.id, [{ subject, type: 'message.failed' }]);
    // It is readable when every transaction that began before it has ended.
    const bySubject = await readFeed(app, sender.key, { cursor, subject, wait_seconds: 25 });
    assert.deepEqual(typesOf(bySubject.body.data), ['message.failed'], 'found at once by its record');
    let pages = 0;
    for (const found: EmittedEvent[] = []; found.length === 0; pages++) {
      const { body } = await readFeed(app, sender.key, { cursor, type: 'message.failed', wait_seconds: 1 });
      assert.notEqual(body.next_cursor, cursor);
      cursor = body.next_cursor;
      found.push(...body.data);
    }
    assert.equal(pages, 2);
  });

  test('counts once against the registration, and has its limit headers', async () => {
    const sender = await createSender(app, { plan: 'free' });
    const remaining = async (query = {}) => {
      const { status, headers } = await readFeed(app, sender.key, query);
      return [status, headers.get('ratelimit-limit'), Number(headers.get('ratelimit-remaining'))] as const;
    };
    const [status, limit, first] = await remaining();
    assert.deepEqual([status, limit], [200, '60']);
    app.clock.advance(2000);
    assert.deepEqual(await remaining({ wait_seconds: 1 }), [200, '60', first - 1]);
    const byToken = await readFeed(app, sender.token);
    assert.equal(Number(byToken.headers.get('ratelimit-remaining')), first, 'a token has its own registration');
  });
});

describe('paging', () => {
  const apis: Api[] = ['sms', 'verify', 'messaging'];
  const types: EventType[] = ['message.sent', 'message.delivered', 'message.failed'];

  test('by any limit and filter each event once, in order, while others are written', { timeout: 60_000 }, async () => {
    const sender = await createSender(app);
    const tokens = [sender.key, bearer(await getToken(app, sender.client, 'verify:manage')), sender.token];
    const subjects = Array.from({ length: 3 }, () => newId('msg', app.clock));
    const written = fc.record({ api: fc.constantFrom(...apis), type: fc.constantFrom(...types), subject: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(written, { minLength: 1, maxLength: 12 }), { maxLength: 8 }),
        fc.nat(2),
        fc.record({
          type: fc.option(fc.constantFrom(...types), { nil: undefined }),
          subject: fc.option(fc.nat(2), { nil: undefined }),
        }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
        async (transactions, who, wanted, limits) => {
          const headers = tokens[who] ?? sender.key;
          const start = await beginFeed(app, headers);
          const before = await lastPosition();
          // They commit in another order than they took their positions.
          const writing = transactions.map((events, index) =>
            app.db.database.transaction(async (tx) => {
              const rows = events.map(({ subject, ...event }) => ({ ...event, subject: subjects[subject] ?? '' }));
              await writeEvents(tx, sender.id, rows);
              await new Promise((done) => setTimeout(done, (transactions.length - index) * 3));
            }),
          );
          let isWritten = false;
          const done = Promise.all(writing).then(() => {
            isWritten = true;
          });
          const query = {
            ...(wanted.type !== undefined && { type: wanted.type }),
            ...(wanted.subject !== undefined && { subject: subjects[wanted.subject] ?? '' }),
          };
          const read: string[] = [];
          let cursor = start;
          for (let page = 0, last = false; ; page++) {
            const was = isWritten;
            const limit = limits[page % limits.length] ?? 1;
            const { status, body } = await readFeed(app, headers, { ...query, limit, cursor });
            assert.equal(status, 200);
            assert.ok(body.data.length <= limit, `${body.data.length} events for a limit of ${limit}`);
            read.push(...body.data.map(({ id }) => id));
            if (last && body.data.length === 0) break;
            last = was && body.data.length === 0;
            cursor = body.next_cursor;
          }
          await done;
          const { rows } = await app.db.database.query<{ position: number; timeMs: number }>(
            `select position, time as "timeMs" from event where application_id = $1 and position > $2 and api = $3
               and ($4::smallint is null or type = $4) and ($5::uuid is null or subject = $5) order by position`,
            [
              uuidOf(sender.id),
              before,
              who,
              wanted.type === undefined ? null : [0, 1, 3][types.indexOf(wanted.type)],
              wanted.subject === undefined ? null : uuidOf(subjects[wanted.subject] ?? ''),
            ],
          );
          const ids = createEventIds(app.keys);
          assert.deepEqual(
            read,
            rows.map(({ position, timeMs }) => ids.idOf(position, timeMs)),
          );
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('wait_seconds', () => {
  /** Waits until the polls wait in the feed: the requests in progress are no longer running. */
  const settle = () => new Promise((done) => setTimeout(done, 150));

  test('answers with the first event, and at once if there are some', async () => {
    const cursor = await beginFeed(app, acme.key);
    const waiting = readFeed(app, acme.key, { cursor, wait_seconds: 25 });
    const { body: sent } = await acme.sms();
    const first = await waiting;
    assert.equal(first.body.data[0]?.subject, sent.id);
    await readUntil(app, acme.key, cursor, 2);
    const again = await readFeed(app, acme.key, { cursor, wait_seconds: 25 });
    assert.deepEqual(typesOf(again.body.data), ['message.sent', 'message.delivered']);
  });

  test('waits on for an event that the filter matches, and gives no more than the limit', async () => {
    const cursor = await beginFeed(app, acme.key);
    const waiting = readFeed(app, acme.key, { cursor, wait_seconds: 25, type: 'message.delivered', limit: 1 });
    await settle();
    const subject = newId('msg', app.clock);
    await writeEvents(app.db.database, acme.id, [{ subject }]);
    await settle();
    await writeEvents(app.db.database, acme.id, [{ subject, type: 'message.delivered' }]);
    const { body } = await waiting;
    assert.deepEqual(typesOf(body.data), ['message.delivered']);
    const two = readFeed(app, acme.key, { cursor: body.next_cursor, wait_seconds: 25, subject, limit: 2 });
    await settle();
    await writeEvents(app.db.database, acme.id, [{ subject }, { subject }, { subject }]);
    const some = await two;
    assert.equal(some.body.data.length, 2);
    const rest = await readFeed(app, acme.key, { cursor: some.body.next_cursor, subject });
    assert.equal(rest.body.data.length, 1, 'the third is behind the cursor');
  });

  test('without an event it ends with an empty page and a cursor that goes on', async () => {
    const cursor = await beginFeed(app, eve.key);
    const { status, body } = await readFeed(app, eve.key, { cursor, wait_seconds: 1 });
    assert.deepEqual([status, body.data], [200, []]);
    await eve.sms();
    assert.equal((await readUntil(app, eve.key, body.next_cursor, 2)).length, 2);
  });

  test('many that wait hold up no other request; one more than 20 of an application is answered at once', async () => {
    const senders = await Promise.all(Array.from({ length: 3 }, () => createSender(app)));
    const waiting = await Promise.all(
      senders.map(async (sender) => {
        const cursor = await beginFeed(app, sender.key);
        const polls = Array.from({ length: 25 }, () => readFeed(app, sender.key, { cursor, wait_seconds: 25 }));
        let answered = 0;
        for (const poll of polls) void poll.then(() => answered++);
        await eventually('five to be answered', () => answered >= 5);
        return { sender, polls, answered: () => answered };
      }),
    );
    // The portal shares their connections and their turns.
    for (const { sender, answered } of waiting) {
      assert.equal((await sender.developer.send('GET', `/portal/v1/applications/${sender.id}/messages`)).status, 200);
      assert.equal(answered(), 5, 'the others wait');
      await writeEvents(app.db.database, sender.id, [{ subject: newId('msg', app.clock) }]);
    }
    for (const { polls } of waiting) {
      const counts = (await Promise.all(polls)).map(({ body }) => body.data.length);
      assert.equal(counts.filter((count) => count === 1).length, 20);
    }
  });

  test('callers that leave free their places', async () => {
    const sender = await createSender(app);
    const cursor = await beginFeed(app, sender.key);
    const leaving = new AbortController();
    const url = `${app.url}${feedPath}?cursor=${cursor}&wait_seconds=25`;
    const gone = Array.from({ length: 20 }, () => fetch(url, { headers: sender.key, signal: leaving.signal }));
    await settle();
    leaving.abort();
    await Promise.allSettled(gone);
    // As long as the places are taken, a poll is answered at once, with nothing.
    await eventually('a place to wait in', async () => {
      const waiting = readFeed(app, sender.key, { cursor, wait_seconds: 25 });
      await settle();
      await writeEvents(app.db.database, sender.id, [{ subject: newId('msg', app.clock) }]);
      return (await waiting).body.data.length > 0;
    });
  });

  test('ends when its credential ends, without events; the next request is a 401', async () => {
    const sender = await createSender(app);
    const cursor = await beginFeed(app, sender.key);
    const waiting = readFeed(app, sender.key, { cursor, wait_seconds: 25 });
    await settle();
    const path = `/portal/v1/applications/${sender.id}/keys/${sender.keyId}`;
    assert.equal((await sender.developer.send('DELETE', path)).status, 204);
    const { status, body } = await waiting;
    assert.deepEqual([status, body.data], [200, []]);
    assert.equal((await readFeed(app, sender.key, { cursor: body.next_cursor })).status, 401);
  });

  test('ends when the service stops, with a whole answer; a later one does not wait', async () => {
    const other = await createTestApp({ db: app.db, clock: app.clock, delivery: 'held' });
    const cursor = await beginFeed(other, acme.key);
    const polls = Array.from({ length: 10 }, () => readFeed(other, acme.key, { cursor, wait_seconds: 25 }));
    await settle();
    await other.close();
    for (const { status, body } of await Promise.all(polls)) assert.deepEqual([status, body.data], [200, []]);
  });

  test('HEAD with wait_seconds does not wait', async () => {
    const cursor = await beginFeed(app, acme.key);
    const path = `${feedPath}?cursor=${cursor}&wait_seconds=25`;
    assert.equal((await send(app, 'HEAD', path, { headers: acme.key })).status, 200);
  });
});

describe('refusals', () => {
  const unfit = [
    [{ limit: 0 }, 'limit'],
    [{ limit: 101 }, 'limit'],
    [{ limit: 'many' }, 'limit'],
    [{ wait_seconds: -1 }, 'wait_seconds'],
    [{ wait_seconds: 26 }, 'wait_seconds'],
    [{ wait_seconds: '1.5' }, 'wait_seconds'],
    [{ type: 'message.queued' }, 'type'],
    [{ type: '' }, 'type'],
    [{ subject: 'x' }, 'subject'],
    [{ subject: 'app_01jcq0000000000000000000000' }, 'subject'],
    [{ subject: 'msg_01JCQ000000000000000000000' }, 'subject'],
    [{ cursor: '' }, 'cursor'],
    [{ cursor: 'x' }, 'cursor'],
    [{ cursor: 'evt_zzzzzzzzzzzzzzzzzzzzzzzzzz' }, 'cursor'],
    [{ cursor: 'msg_01m7j613g800qy48dcqvezp2d4' }, 'cursor'],
    [{ cursor: '9'.repeat(300) }, 'cursor'],
  ] as const;

  test('400 names the field, and makes no application listen', async () => {
    const sender = await createSender(app, { apis: ['sms'] });
    for (const [query, field] of unfit) {
      const { status, body } = await refusedFeed(app, sender.key, query);
      assert.deepEqual([status, body.code, body.details[0]?.field], [400, 'INVALID_ARGUMENT', field]);
    }
    const { count } = await app.db.database.query('select from event_listener where application_id = $1', [
      uuidOf(sender.id),
    ]);
    assert.equal(count, 0);
  });

  test('400 for a parameter that is given twice, and for a cursor of another installation', async () => {
    const twice = await send<{ code: string }>(app, 'GET', `${feedPath}?type=message.sent&type=message.failed`, {
      headers: acme.key,
    });
    assert.deepEqual([twice.status, twice.body.code], [400, 'INVALID_ARGUMENT']);
    const position = await lastPosition();
    const theirKeys = { ...app.keys, version: 1, versions: [1], keyFor: () => Buffer.alloc(32, 7) };
    const [ids, cursors] = [createEventIds(theirKeys), createEventCursors(theirKeys)];
    for (const cursor of [ids.idOf(position, app.clock.nowMs()), cursors.cursorAt(acme.id, position)]) {
      const foreign = await refusedFeed(app, acme.key, { cursor });
      assert.deepEqual([foreign.status, foreign.body.details[0]?.field], [400, 'cursor']);
    }
  });

  test('401 without a credential or with a dead one, also below an unknown path; 404 and 405 with one', async () => {
    for (const path of [feedPath, '/events/v1/stream', '/events/v1/other', '/events/v1'])
      for (const headers of [{}, { apikey: 'x' }, bearer('x')])
        assert.equal((await send(app, 'GET', path, { headers })).status, 401, `${path} ${JSON.stringify(headers)}`);
    assert.equal((await send(app, 'GET', '/events/v1/other', { headers: acme.key })).status, 404);
    assert.equal((await send(app, 'GET', '/events/v1/other', { headers: acme.token })).status, 404);
    const posted = await send(app, 'POST', feedPath, { headers: acme.key });
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await send(app, 'GET', feedPath, { headers: { cookie: acme.developer.cookie } })).status, 401);
  });

  test('429 with nothing but a message', async () => {
    const sender = await createSender(app, { plan: 'free' });
    const answers = await Promise.all(Array.from({ length: 70 }, () => refusedFeed(app, sender.key)));
    const refused = answers.find(({ status }) => status === 429);
    assert.deepEqual(Object.keys(refused?.body ?? {}), ['message']);
    assert.ok(Number(refused?.headers.get('retry-after')) > 0, 'it says when to come back');
  });
});

describe('410 CURSOR_EXPIRED', () => {
  const cursorAt = (application: Sender, position: number) =>
    createEventCursors(app.keys).cursorAt(application.id, position);
  const assertExpired = ({ status, body }: Awaited<ReturnType<typeof refusedFeed>>) =>
    assert.deepEqual([status, body.code], [410, 'CURSOR_EXPIRED']);

  test('a cursor that is older than the kept events gets 410', async (t) => {
    const clock = createTestClock(app.clock.nowMs());
    const later = await createTestApp({ db: app.db, clock, delivery: 'held' });
    t.after(() => later.close());
    const cursor = await beginFeed(later, acme.key);
    clock.advance(7 * dayMs);
    assert.equal((await readFeed(later, acme.key, { cursor })).status, 200);
    clock.advance(dayMs);
    assertExpired(await refusedFeed(later, acme.key, { cursor }));
  });

  test('a cursor from before the application listened, or from before a gap, gets 410', async () => {
    const sender = await createSender(app);
    const before = cursorAt(sender, (await lastPosition()) - 1);
    const cursor = await beginFeed(app, sender.key);
    assertExpired(await refusedFeed(app, sender.key, { cursor: before }));
    // It stops listening; something happens; it begins again.
    await app.db.database.query('delete from event_listener where application_id = $1', [uuidOf(sender.id)]);
    await eve.sms();
    await readUntil(app, eve.key, await beginFeed(app, eve.key), 0);
    await writeEvents(app.db.database, eve.id, [{ subject: newId('msg', app.clock) }]);
    assertExpired(await refusedFeed(app, sender.key, { cursor }));
    assertExpired(await refusedFeed(app, sender.key, { cursor, wait_seconds: 25 }));
    const anew = await beginFeed(app, sender.key);
    assert.equal((await readFeed(app, sender.key, { cursor: anew })).status, 200);
  });

  test('a cursor ahead of all events, as after a restore, gets 410', async () => {
    const cursor = cursorAt(acme, (await lastPosition()) + 1000);
    assertExpired(await refusedFeed(app, acme.key, { cursor }));
  });
});

describe('listening', () => {
  test('an application that never read has no events; from the first answer on it has them all', async () => {
    const sender = await createSender(app);
    const { body: unheard } = await sender.sms();
    // Else it could still have events when listening begins.
    await eventually('it to be delivered', async () => {
      app.clock.advance(100);
      return (await sender.readSms(unheard.id)).status === 'delivered';
    });
    const { count } = await app.db.database.query('select from event where application_id = $1', [uuidOf(sender.id)]);
    assert.equal(count, 0);
    const cursor = await beginFeed(app, sender.key);
    const ids = (await Promise.all(Array.from({ length: 10 }, () => sender.sms()))).map(({ body }) => body.id);
    const events = await readUntil(app, sender.key, cursor, 20);
    for (const id of ids) {
      const own = events.filter(({ subject }) => subject === id);
      assert.deepEqual(typesOf(own), ['message.sent', 'message.delivered']);
    }
  });

  test('waits for a change that began before: with its event or before the answer, never without both', async () => {
    const sender = await createSender(app);
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const changing = app.db.database.transaction(async (tx) => {
      await tx.query('select txid_current()');
      await held;
    });
    await eventually('it to run', async () => {
      const { count } = await app.db.database.query(
        `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      );
      return count > 0;
    });
    let answered = false;
    const first = beginFeed(app, sender.key).then((cursor) => {
      answered = true;
      return cursor;
    });
    await new Promise((done) => setTimeout(done, 100));
    assert.equal(answered, false, 'a statement that does not see the listener is still running');
    commit();
    await changing;
    assert.match(await first, /^evt_/);
  });
});
