// A day of events is a partition, and the upper bits of a position are its day.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readEvents } from '../../src/events/event-store.ts';
import { addListener } from '../../src/events/listener-store.ts';
import { beginDay, dayOf, dayOfPosition, firstOfDay } from '../../src/events/position.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('the change of a day', () => {
  let db: TestDatabase;
  let todayMs: number;
  before(async () => {
    db = await createTestDatabase();
    todayMs = Date.now();
  });
  after(() => db.drop());

  const next = async () =>
    (await db.database.query<{ next: number }>(`select nextval('event_position') as next`)).rows[0]?.next ?? 0;

  test('positions go on with those of the new day, and never go back', async () => {
    const today = await next();
    assert.equal(dayOfPosition(today), dayOf(todayMs));
    assert.equal(await beginDay(db.database, todayMs), 0, 'it has begun already');
    assert.equal(await beginDay(db.database, todayMs + dayMs), 1);
    const tomorrow = await next();
    assert.equal(dayOfPosition(tomorrow), dayOf(todayMs) + 1);
    assert.ok(tomorrow > firstOfDay(dayOf(todayMs) + 1), 'behind the first position of the day');
    // A node whose clock is behind.
    assert.equal(await beginDay(db.database, todayMs), 0);
    assert.equal(await next(), tomorrow + 1);
  });

  test('many nodes begin it once, while others write', async () => {
    const nodes = Array.from({ length: 6 }, () => db.another({ poolSize: 2 }));
    const atMs = todayMs + 2 * dayMs;
    const writers = nodes.map(async (node) => {
      const taken: number[] = [];
      for (let each = 0; each < 60; each++) {
        const { rows } = await node.query<{ next: number }>(`select nextval('event_position') as next`);
        taken.push(rows[0]?.next ?? 0);
      }
      return taken;
    });
    const begun = await Promise.all(nodes.flatMap((node) => [beginDay(node, atMs), beginDay(node, atMs + 1)]));
    assert.equal(
      begun.reduce((sum, each) => sum + each, 0),
      1,
      'one of them began it',
    );
    const all = await Promise.all(writers);
    for (const taken of all)
      assert.deepEqual(
        taken,
        [...taken].sort((a, b) => a - b),
        'positions rise',
      );
    assert.equal(new Set(all.flat()).size, all.flat().length, 'no position is given out twice');
    assert.equal(dayOfPosition(await next()), dayOf(atMs));
  });

  test('the largest positions of the next 300 years are exact numbers', () => {
    const far = firstOfDay(dayOf(Date.parse('2326-01-01')));
    assert.ok(Number.isSafeInteger(far + 2 ** 36), String(far));
    assert.equal(dayOfPosition(far - 1), dayOfPosition(far) - 1);
    assert.equal(firstOfDay(dayOfPosition(far + 17)), far);
  });
});

describe('with HELIOGRAPH_EVENT_DAYS=2', () => {
  let app: TestApp;
  before(async () => {
    app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_EVENT_DAYS: '2' } });
  });
  after(() => app.close());

  test('the events of a day lie in its partition, stay two days and a little, and go as a whole', async () => {
    const { database } = app.db;
    const applicationId = newId('app', app.clock);
    await addListener(database, applicationId);
    const firstDay = dayOf(app.clock.nowMs());
    const partitions = async () =>
      (
        await database.query<{ name: string }>(
          `select tableoid::regclass::text as name from event where application_id = $1 order by position`,
          [uuidOf(applicationId)],
        )
      ).rows.map(({ name }) => name);
    const write = () =>
      database.query(
        `insert into event (application_id, subject, time, sequence, type, api)
         values ($1, gen_random_uuid(), to_timestamp($2::float8 / 1000), 1, 0, 0)`,
        [uuidOf(applicationId), app.clock.nowMs()],
      );
    const days = async (count: number) => {
      for (let day = 0; day < count; day++) {
        app.clock.advance(dayMs);
        await app.delivery.maintenance.runAll();
      }
    };
    await write();
    await days(1);
    await write();
    await days(1);
    await write();
    const names = [0, 1, 2].map((day) => `event_d${firstDay + day}`);
    assert.deepEqual(await partitions(), names, 'each day in its own');
    const span = { applicationId, after: 0, upTo: firstOfDay(firstDay + 100) };
    const { events } = await readEvents(database, span, {}, 10);
    assert.deepEqual(
      events.map(({ position }) => dayOfPosition(position) - firstDay),
      [0, 1, 2],
      'one read goes over all of them',
    );
    await days(1);
    assert.ok((await partitions()).includes(names[1] ?? ''), 'two days back is kept');
    await days(1);
    assert.ok(!(await partitions()).includes(names[0] ?? ''), 'the first day is gone');
    const { rows } = await database.query<{ name: string | null }>('select to_regclass($1)::text as name', [names[0]]);
    assert.equal(rows[0]?.name, null, 'and its table');
    assert.ok((await partitions()).includes(names[2] ?? ''), 'the third day is there');
    const { count } = await database.query('select from event_default');
    assert.equal(count, 0, 'no event is without a partition');
  });
});
