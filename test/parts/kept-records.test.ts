// Records go by their age, but none that something still waits for: a service may have stood still for weeks.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createChores } from '../../src/compose/chores/chores.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { queueColumns } from '../../src/delivery/queue/columns.ts';
import { neededTextsFrom } from '../../src/delivery/receipts/needed-texts.ts';
import { dayMs, hourMs } from '../../src/platform/clock.ts';
import type { Database, Tx } from '../../src/platform/database/database.ts';
import { partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTestClock } from '../support/clock.ts';
import { eventsOf, listen } from '../support/event-witness.ts';
import { createTestLog } from '../support/log.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: Sender;
let caller: VerifyCaller;
/** An hour before a week ends: its partition is old as soon as can be. */
const startMs = Math.ceil(Date.now() / partitionWeekMs) * partitionWeekMs - hourMs;
beforeEach(async () => {
  app = await createTestApp({
    delivery: 'held',
    clock: createTestClock(startMs),
    env: { HELIOGRAPH_RETENTION_DAYS: '2', HELIOGRAPH_KEEP_DAYS: '14', HELIOGRAPH_EVENT_DAYS: '90' },
  });
  [acme, caller] = [await createSender(app), await createVerifyCaller(app)];
  await listen(app.db.database);
});
afterEach(() => app.close());

const database = () => app.db.database;
const work = () => app.delivery.workers()[0]?.runUntilIdle();
const upkeep = () => app.delivery.maintenance.runAll();
const limits = { first: 100, bulk: 100 };
const claim = () => createClaims(database())({ carrier: 'sandbox', nowMs: app.clock.nowMs(), leaseMs: 1000, limits });

/** Runs the chores of these names alone, so that no other one has been there before. */
async function run(names: RegExp, keepDays = 14, on: Database = database()): Promise<void> {
  const chores = createChores({
    ...{ config: { ...app.config, keepDays }, database: on, clock: app.clock, keys: app.keys },
    ...{ log: createTestLog().log, deliverIncomplete: async () => 0 },
  });
  for (const { name, runPiece } of chores) if (names.test(name)) while ((await runPiece()) > 0);
}
const drop = (keepDays?: number, on?: Database) => run(/^old-(message|text|verification|ended)/, keepDays, on);

async function isKept(id: string): Promise<boolean> {
  return (await database().query('select from message where id = $1', [uuidOf(id)])).count === 1;
}

async function accept(given: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await acme.sms(given);
  assert.equal(status, 201);
  return body.id;
}

const inDays = (days: number) => new Date(app.clock.nowMs() + days * dayMs).toISOString();

/** How each text comes to wait, and how it ends when the service runs again after four weeks. */
const places: Record<string, { bring: () => Promise<string>; end: string }> = {
  schedule: { bring: () => accept({ send_at: inDays(6) }), end: 'expired' },
  queue: { bring: () => accept(), end: 'expired' },
  claim: {
    async bring() {
      const id = await accept();
      assert.equal((await claim())?.texts.length, 1);
      return id;
    },
    end: 'unknown',
  },
  receipt: {
    async bring() {
      const id = await accept();
      await work();
      assert.equal((await acme.readSms(id)).status, 'sent');
      return id;
    },
    end: 'unknown',
  },
};

describe('texts', () => {
  test('a text that is to be sent in six days is sent, although records are kept for three', async () => {
    const id = await accept({ send_at: inDays(6) });
    app.clock.advance(6 * dayMs);
    await drop(3);
    await work();
    assert.equal((await acme.readSms(id)).status, 'sent');
  });

  for (const [place, { bring, end }] of Object.entries(places)) {
    test(`a text that waits in the ${place} keeps its record for weeks, ends, and goes`, async () => {
      const id = await bring();
      app.clock.advance(4 * partitionWeekMs);
      await drop();
      assert.ok(await isKept(id), 'before any other chore has looked');
      await run(/^unreported|^mask/);
      if (place !== 'receipt') {
        await drop();
        assert.ok(await isKept(id), 'after the walk over old texts has passed it');
      }
      await work();
      const told = await eventsOf(database(), id);
      assert.match(told.at(-1) ?? '', new RegExp(` message.${end}$`));
      // The walk looks every hour whether it still waits.
      app.clock.advance(hourMs);
      await upkeep();
      assert.ok(!(await isKept(id)), 'when nothing waits for it');
    });
  }

  test('a text in the default partition keeps its record, and an older one that has ended goes', async () => {
    app.clock.advance(20 * partitionWeekMs);
    const ended = await accept();
    await work();
    app.clock.advance(dayMs);
    const waiting = await accept({ send_at: inDays(6) });
    app.clock.advance(4 * partitionWeekMs);
    await run(/^unreported/);
    await drop();
    const { rows } = await database().query<{ count: number }>('select count(*) as count from message_default');
    assert.deepEqual([rows[0]?.count, await isKept(ended), await isKept(waiting)], [1, false, true]);
  });

  test('what is known of the parts and attempts of a text that waits stays with it', async () => {
    const id = await accept({ send_at: inDays(6) });
    await database().query(
      `insert into text_part (message_id, part, total, needed, form, in_doubt) values ($1, 1, 2, 2, 'x', true)`,
      [uuidOf(id)],
    );
    await database().query(
      `insert into text_attempt (message_id, attempt, carrier, submitted_at, outcome) values ($1, 1, 'x', now(), 0)`,
      [uuidOf(id)],
    );
    const count = async (table: string) => (await database().query(`select from ${table}`)).count;
    app.clock.advance(4 * partitionWeekMs);
    await drop();
    assert.deepEqual([await count('text_part'), await count('text_attempt')], [1, 1]);
    await work();
    app.clock.advance(hourMs);
    await upkeep();
    assert.deepEqual([await count('text_part'), await count('text_attempt')], [0, 0]);
  });

  test('a text that moves from table to table while nodes drop what is old is in one of them at every look', async () => {
    const id = await accept({ send_at: inDays(6) });
    app.clock.advance(4 * partitionWeekMs);
    await run(/^unreported/);
    // This look does not know what the walk has noted.
    await database().query('truncate unsettled_text');
    let moving = true;
    const nodes = [app.db.another(), app.db.another()].map(async (node) => {
      while (moving) await drop(14, node);
    });
    for (let round = 0; round < 200; round++) {
      const [from, to] = round % 2 === 0 ? ['schedule', 'queue'] : ['queue', 'schedule'];
      const [into, moved] = [queueColumns, queueColumns].map((columns) =>
        to === 'queue' ? columns : `${columns}, due_at`,
      );
      const { count } = await database().query(`with gone as (delete from delivery_${from} returning *, now() as due_at)
        insert into delivery_${to} (${into}) select ${moved} from gone`);
      assert.equal(count, 1);
    }
    moving = false;
    await Promise.all(nodes);
    assert.ok(await isKept(id));
  });
});

describe('verifications', () => {
  test('one that was pending when the service stood still ends, with its event, and goes', async () => {
    const { body } = await caller.start({ to: caller.newNumber() });
    app.clock.advance(4 * partitionWeekMs);
    await drop();
    await run(/^expire-verifications/);
    const reader = await createVerifyCaller(app, caller);
    assert.equal((await reader.read(body.id)).body.status, 'expired');
    assert.match((await eventsOf(database(), body.id)).at(-1) ?? '', / verification.expired$/);
    await drop();
    assert.equal((await reader.read(body.id)).status, 404);
  });
});

test('a poll of the queue reads one page or two for each carrier, lane and application, however many texts wait', async () => {
  const fill = (table: string, rows: number) =>
    database().query(
      `insert into ${table} (${queueColumns}${table === 'delivery_queue' ? '' : ', due_at'})
       select 'carrier-' || n % 3, 1, ('00000000-0000-0000-0000-' || lpad((n % 20)::text, 12, '0'))::uuid,
         gen_random_uuid(), 0, 0, 0, false, 0, now() ${table === 'delivery_queue' ? '' : ', now()'} from generate_series(1, $1) n`,
      [rows],
    );
  const pagesRead = async () => {
    let pages = 0;
    const explaining: Tx = {
      ...database(),
      async query(statement, values) {
        const text = typeof statement === 'string' ? statement : statement.text;
        const { rows } = await database().query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `explain (analyze, buffers, format json) ${text}`,
          values,
        );
        const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
        pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
        return { rows: [], count: 0 };
      },
    };
    await neededTextsFrom(explaining, app.clock.nowMs());
    return pages;
  };
  for (const table of ['delivery_queue', 'delivery_schedule']) await fill(table, 1000);
  const few = await pagesRead();
  for (const table of ['delivery_queue', 'delivery_schedule']) await fill(table, 40_000);
  const many = await pagesRead();
  assert.ok(many < 600 && many < 2 * few, `${few} pages at first, ${many} with many`);
});
