// The core of events under many writers: the horizon hides nothing, and listening begins with no gap.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { insertEvents } from '../../src/events/event-inserts.ts';
import { readEvents } from '../../src/events/event-store.ts';
import { createHorizon, type Horizon } from '../../src/events/horizon.ts';
import { addListener } from '../../src/events/listener-store.ts';
import { createListeners } from '../../src/events/listeners.ts';
import { beginDay, newestPosition } from '../../src/events/position.ts';
import { dayMs, systemClock } from '../../src/platform/clock.ts';
import type { Database, Session, Tx } from '../../src/platform/database/database.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
let sessions: Session[] = [];
before(async () => {
  db = await createTestDatabase();
  // A kind of record that has nothing but a counter.
  await db.database.query(`create table counter (id uuid primary key, application_id uuid not null,
    value smallint not null default 0)`);
});
after(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await db.drop();
});

/** What a change of a counter writes. */
const change = `with changed as (
    update counter set value = value + 1 where id = $1 returning id, application_id, value)
  ${insertEvents(`(select application_id, id as subject, now() as time, value as sequence, 0 as type, 0 as api,
    null::smallint as error_code from changed)`)}`;

async function createCounter(applicationId: string): Promise<string> {
  const id = uuidOf(newId('msg', systemClock));
  await db.database.query('insert into counter (id, application_id) values ($1, $2)', [id, uuidOf(applicationId)]);
  return id;
}

async function listeningApplication(): Promise<string> {
  const id = newId('app', systemClock);
  await addListener(db.database, id);
  return id;
}

/** A connection whose transactions the test begins and ends. */
async function openSession(): Promise<Session> {
  const session = await db.database.openSession(() => {}, { patient: true });
  sessions = [...sessions, session];
  return session;
}

async function lastPosition(): Promise<number> {
  const { rows } = await db.database.query<{ last: number }>('select last_value as last from event_position');
  return rows[0]?.last ?? 0;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const isChosen = (one: number, inThis: number) => Math.floor(Math.random() * inThis) < one;

/** Reads as often as a reader that is never content. */
async function readOften(horizon: Horizon, times: number): Promise<number> {
  let read = 0;
  for (let each = 0; each < times; each++) read = await horizon.read();
  return read;
}

/** Postgres itself may write for a moment, to look after its tables. */
const untilItPasses = (horizon: Horizon, position: number) =>
  eventually('the horizon to pass all positions', async () => (await horizon.read()) >= position);

/** Reads the newest position many times. */
const countBack = `with recursive look as (
    select 1 as times, ${newestPosition} as newest, 0 as back
    union all
    select times + 1, l.newest, back + case when l.newest < look.newest then 1 else 0 end
    from look cross join lateral (select case when times > 0 then ${newestPosition} end as newest offset 0) l
    where times < 5000)
  select max(back) as back from look`;

describe('the horizon', () => {
  test('passes all positions while none writes', async () => {
    const id = await createCounter(await listeningApplication());
    await db.database.query(change, [id]);
    await untilItPasses(createHorizon(db.database), await lastPosition());
  });

  test('goes by positions that were taken, also while others take them: the newest one never goes back', async () => {
    const writers = db.another({ poolSize: 3 });
    let isOver = false;
    const write = async () => {
      while (!isOver) await writers.query(`select count(nextval('event_position')) from generate_series(1, 200)`);
    };
    const writing = Array.from({ length: 3 }, write);
    let back = 0;
    const endMs = performance.now() + inShort(600, 20_000);
    for (let looks = 0; looks < 5 || performance.now() < endMs; looks++)
      back += (await db.database.query<{ back: number }>(countBack)).rows[0]?.back ?? 0;
    isOver = true;
    await Promise.all(writing);
    assert.equal(back, 0, 'looks that saw a smaller position than the one before');
  });

  test('stays behind a transaction that has taken a position and not committed yet', async () => {
    const applicationId = await listeningApplication();
    const [early, late] = [await createCounter(applicationId), await createCounter(applicationId)];
    const horizon = createHorizon(db.database);
    const start = await readOften(horizon, 2);
    const session = await openSession();
    await session.query('begin');
    await session.query(change, [early]);
    await db.database.query(change, [late]);
    assert.ok((await readOften(horizon, 10)) <= start, 'an event that is not committed yet would be skipped');
    await session.query('commit');
    const upTo = await lastPosition();
    await untilItPasses(horizon, upTo);
    const { events } = await readEvents(db.database, { applicationId, after: start, upTo }, {}, 10);
    assert.deepEqual(
      events.map(({ subject }) => uuidOf(subject)),
      [early, late],
    );
  });

  test('does not wait for what is not ours: a person who has left a transaction open', async () => {
    const id = await createCounter(await listeningApplication());
    const person = new Client({ ...db.connection, application_name: 'psql' });
    await person.connect();
    await person.query('begin');
    await person.query('create table scratch ()');
    await db.database.query(change, [id]);
    await untilItPasses(createHorizon(db.database), await lastPosition());
    await createListeners({ database: db.database, clock: systemClock }).readFeed(newId('app', systemClock));
    await person.end();
  });

  test('stays behind a statement whose first act is its event, while that waits for the table', async () => {
    const applicationId = await listeningApplication();
    const horizon = createHorizon(db.database);
    const start = await readOften(horizon, 2);
    const { rows } = await db.database.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'event'::regclass`,
    );
    const locker = await openSession();
    // A lock that gives its transaction no id, so that it does not hold the horizon back itself.
    await locker.query('begin');
    await locker.query(`lock table ${rows.map(({ name }) => name).join(', ')} in share mode`);
    const subject = uuidOf(newId('msg', systemClock));
    const writing = db.database.query(
      insertEvents(`(select $1::uuid as application_id, $2::uuid as subject, now() as time, 1 as sequence, 0 as type,
        0 as api, null::smallint as error_code)`),
      [uuidOf(applicationId), subject],
    );
    const before = await lastPosition();
    for (let tries = 0; (await lastPosition()) === before && tries < 50; tries++) await pause(10);
    const read = await readOften(horizon, 10);
    await locker.query('commit');
    await writing;
    assert.ok(read <= start, 'the position was passed before its event could be seen');
  });

  test('of several reads at once, a late answer to an early one proves nothing', async () => {
    const applicationId = await listeningApplication();
    const [first, second] = [await createCounter(applicationId), await createCounter(applicationId)];
    let held: (() => void) | undefined;
    let holdsNext = true;
    const slow: Pick<Database, 'query'> = {
      async query(statement, values) {
        const holds = holdsNext;
        holdsNext = false;
        const rows = await db.database.query(statement, values);
        if (holds)
          await new Promise<void>((resolve) => {
            held = resolve;
          });
        return rows as never;
      },
    };
    const horizon = createHorizon(slow as Database);
    const [one, two] = [await openSession(), await openSession()];
    await one.query('begin');
    await one.query(change, [first]);
    const early = horizon.read();
    while (held === undefined) await pause(1);
    await one.query('commit');
    await two.query('begin');
    await two.query(change, [second]);
    const taken = await lastPosition();
    const late = horizon.read();
    await pause(20);
    held();
    assert.ok((await early) < taken, 'the first look knows nothing of the second writer');
    assert.ok((await late) < taken, 'the second look knows it');
    assert.ok((await readOften(horizon, 3)) < taken, 'nor do later ones');
    await two.query('commit');
    await untilItPasses(horizon, taken);
  });

  test('readers who follow it under many writers miss nothing, and see each record in order', async () => {
    const applicationId = await listeningApplication();
    const counters = await Promise.all(Array.from({ length: 12 }, () => createCounter(applicationId)));
    const pool = db.another({ poolSize: 12 });
    const start = await lastPosition();
    const endMs = performance.now() + inShort(1200, 20_000);
    let writing = true;
    let changes = 0;

    async function write(): Promise<void> {
      while (performance.now() < endMs || changes < 40) {
        const id = counters[Math.floor(Math.random() * counters.length)];
        await pool
          .transaction(async (tx: Tx) => {
            await tx.query(change, [id]);
            if (isChosen(1, 3)) await pause(Math.random() * 15);
            if (isChosen(1, 10)) throw new Error('given up');
            changes++;
          })
          .catch(({ message }: Error) => assert.equal(message, 'given up'));
      }
    }

    async function follow(database: Database): Promise<string[]> {
      const horizon = createHorizon(database);
      const seen: string[] = [];
      let after = start;
      const read = async (upTo: number) => {
        while (after < upTo) {
          const page = await readEvents(database, { applicationId, after, upTo }, {}, 50);
          seen.push(...page.events.map(({ subject, sequence }) => `${uuidOf(subject)} ${sequence}`));
          after = page.readTo;
        }
      };
      while (writing) {
        await read(await horizon.read());
        await pause(Math.random() * 20);
      }
      const last = await lastPosition();
      await untilItPasses(horizon, last);
      await read(last);
      return seen;
    }

    const readers = [follow(db.database), follow(db.another({ poolSize: 2 }))];
    const days = (async () => {
      // A new day in the middle: positions go on higher.
      await pause(500);
      await beginDay(db.database, Date.now() + dayMs);
    })();
    await Promise.all(Array.from({ length: 12 }, write));
    await days;
    writing = false;
    const { rows } = await db.database.query<{ line: string }>(
      `select subject || ' ' || sequence as line from event where application_id = $1 order by position`,
      [uuidOf(applicationId)],
    );
    const all = rows.map(({ line }) => line);
    assert.ok(all.length > 20, `only ${all.length} changes`);
    for (const seen of await Promise.all(readers)) assert.deepEqual(seen, all);
    for (const id of counters) {
      const sequences = all.filter((line) => line.startsWith(id)).map((line) => Number(line.split(' ')[1]));
      assert.deepEqual(
        sequences,
        sequences.map((_, index) => index + 1),
        'the events of a record are in the order of its changes',
      );
    }
  });
});

describe('listening', () => {
  test('begins with no gap: a change that commits after the answer has its event', async () => {
    const pool = db.another({ poolSize: 10 });
    const listeners = createListeners({ database: db.another({ poolSize: 2 }), clock: systemClock });
    for (let round = 0; round < inShort(3, 100); round++) {
      const applicationId = newId('app', systemClock);
      const counters = await Promise.all(Array.from({ length: 10 }, () => createCounter(applicationId)));
      let isListening = false;
      let stopped = false;
      /** The changes that began to commit after listening had begun, and those before. */
      const must = new Set<string>();
      const all = new Set<string>();

      async function write(id: string): Promise<void> {
        for (let value = 1; !stopped; value++) {
          const line = `${id} ${value}`;
          if (isChosen(1, 2)) {
            await pool.transaction(async (tx) => {
              await tx.query(change, [id]);
              await pause(Math.random() * 10);
              if (isListening) must.add(line);
            });
          } else {
            // One statement, which is slow to change anything.
            if (isListening) must.add(line);
            await pool.query(
              `${change.replace('where id = $1', 'where id = $1 and pg_sleep(random() / 100) is not null')}`,
              [id],
            );
          }
          all.add(line);
        }
      }

      const writing = Promise.all(counters.map(write));
      await eventually('changes before', () => all.size > 10);
      const { since } = await listeners.readFeed(applicationId);
      isListening = true;
      await eventually('changes after', () => must.size > 10);
      stopped = true;
      await writing;
      const { rows } = await db.database.query<{ line: string; position: number }>(
        `select subject || ' ' || sequence as line, position from event where application_id = $1`,
        [uuidOf(applicationId)],
      );
      const told = new Set(rows.map(({ line }) => line));
      assert.equal(told.size, rows.length, 'no change is emitted twice');
      assert.deepEqual(
        [...must].filter((line) => !told.has(line)),
        [],
        'changes after the answer without an event',
      );
      assert.ok(
        rows.every(({ position }) => position > since),
        'events lie behind the position up to which all are emitted',
      );
    }
  });

  test('does not begin while a transaction may still change something without an event', async () => {
    const applicationId = newId('app', systemClock);
    const id = await createCounter(applicationId);
    const session = await openSession();
    await session.query('begin');
    await session.query(change, [id]);
    let pauses = 0;
    const enough = new Promise<void>((resolve) => {
      const listeners = createListeners({
        database: db.database,
        clock: systemClock,
        pause: async () => {
          if (++pauses === 5) {
            await session.query('commit');
            resolve();
          }
        },
      });
      listeners.readFeed(applicationId).then(
        () => resolve(),
        () => resolve(),
      );
    });
    await enough;
    assert.equal(pauses, 5, 'it waited for the transaction');
  });

  test('a gap has a position of its own: no cursor from before it is behind it', async () => {
    const applicationId = newId('app', systemClock);
    await addListener(db.database, applicationId);
    const id = await createCounter(applicationId);
    await db.database.query(change, [id]);
    const cursor = await lastPosition();
    await db.database.query('delete from event_listener where application_id = $1', [uuidOf(applicationId)]);
    // This change has no event, and no other event shows that time has passed.
    await db.database.query(change, [id]);
    const { since } = await addListener(db.database, applicationId);
    assert.ok(cursor < since, 'a reader with the old cursor would not notice the gap');
    assert.equal((await addListener(db.database, applicationId)).since, since, 'it goes on listening as before');
  });

  test('many readers at once begin it once', async () => {
    const applicationId = newId('app', systemClock);
    const nodes = [db.another(), db.another()].map((database) => createListeners({ database, clock: systemClock }));
    const found = await Promise.all(
      nodes.flatMap((node) => Array.from({ length: 5 }, () => node.readFeed(applicationId))),
    );
    assert.equal(new Set(found.map(({ since }) => since)).size, 1);
  });
});
