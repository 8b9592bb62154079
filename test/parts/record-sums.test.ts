// Usage is read from sums and the newest records. Whatever happens in whatever order, it is what the records say.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { messageStatuses } from '../../src/messages/message.ts';
import { dayMs, hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { sumSome } from '../../src/platform/database/record-sums.ts';
import { statusCode } from '../../src/verify/verification-row.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import {
  countExact,
  countStates,
  deleteAllNeedless,
  emptyRecords,
  insertTexts,
  insertVerification,
  readExact,
  readStates,
  sumAll,
  summedTables,
  usageApplications,
  usageSpan,
} from '../support/usage-records.ts';

let db: TestDatabase;
let node: Database;
let otherNode: Database;
before(async () => {
  db = await createTestDatabase();
  node = db.database;
  otherNode = db.another({ poolSize: 2 });
});
after(() => db.drop());

/** The partitions of this week and the next four are there; what is later goes into the default one. */
const beganMs = Math.floor(Date.now() / partitionWeekMs) * partitionWeekMs + 5 * dayMs;
let nowMs = beganMs;

/** Something that callers, carriers, chores or time do. */
interface Step {
  (): Promise<unknown>;
  [fc.toStringMethod]?: () => string;
}

/** A failure prints what was done, not the code of it. */
function named(name: string, facts: unknown, act: () => Promise<unknown>): Step {
  return Object.assign(act, { [fc.toStringMethod]: () => `${name} ${JSON.stringify(facts)}` });
}

const application = fc.nat(1);
/** How late an insert may commit after its id was made; the node's clock may be ahead, too. */
const lateMs = fc.integer({ min: -2000, max: 150_000 });
const skewMs = fc.integer({ min: -2000, max: 2000 });

const send = fc
  .record({
    application,
    count: fc.integer({ min: 1, max: 4 }),
    api: fc.nat(2),
    segments: fc.integer({ min: 1, max: 9 }),
    lateMs,
  })
  .map((facts) => named('send', facts, () => insertTexts(node, { ...facts, madeMs: nowMs - facts.lateMs })));

const start = fc
  .record({
    application,
    lateMs,
    ttlMs: fc.constantFrom(60_000, 600_000, 600_000),
    status: fc.constantFrom('pending' as const, 'pending' as const, 'blocked' as const),
  })
  .map((facts) => named('start', facts, () => insertVerification(node, { ...facts, madeMs: nowMs - facts.lateMs })));

const report = fc
  .record({ status: fc.nat(messageStatuses.length - 1), place: fc.nat(9) })
  .map((facts) =>
    named('report', facts, () =>
      node.query(
        'update message set status = $1 where id = (select id from message order by id desc offset $2 limit 1)',
        [facts.status, facts.place],
      ),
    ),
  );

/** A node may decide about a verification that has lapsed by another clock. */
const end = fc
  .record({ status: fc.constantFrom('approved' as const, 'failed' as const), place: fc.nat(3), skewMs })
  .map((facts) =>
    named('end', facts, () =>
      node.query(
        `update verification set status = $1 where id = (
           select id from verification where status = $2 and expires_at > $3 order by id offset $4 limit 1)`,
        [statusCode(facts.status), statusCode('pending'), toTimestamp(nowMs + facts.skewMs), facts.place],
      ),
    ),
  );

const expire = fc.constant(
  named('expire', {}, () =>
    node.query('update verification set status = $1 where status = $2 and expires_at <= $3', [
      statusCode('expired'),
      statusCode('pending'),
      toTimestamp(nowMs),
    ]),
  ),
);

/** Mostly short, because most happens in the first minutes of a record. */
const wait = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(1000, 20_000, minuteMs, 2 * minuteMs, 4 * minuteMs) },
    { weight: 2, arbitrary: fc.constantFrom(15 * minuteMs, 50 * minuteMs, 5 * hourMs, dayMs, 3 * dayMs, 12 * dayMs) },
  )
  .map((ms) =>
    named('wait', ms, async () => {
      nowMs += ms;
    }),
  );

const sum = fc
  .record({
    nodes: fc.integer({ min: 1, max: 2 }),
    pieces: fc.integer({ min: 1, max: 3 }),
    limit: fc.integer({ min: 1, max: 12 }),
    skewMs,
  })
  .map((facts) =>
    named('sum', facts, async () => {
      const work = async (database: Database) => {
        for (let piece = 0; piece < facts.pieces; piece++) {
          for (const summed of summedTables) await sumSome(database, summed, nowMs + facts.skewMs, facts.limit);
        }
      };
      await Promise.all([node, otherNode].slice(0, facts.nodes).map(work));
    }),
  );

const tidy = fc.constant(named('tidy', {}, () => deleteAllNeedless(node, nowMs)));

const look = fc
  .record({
    application,
    stepMs: fc.constantFrom(minuteMs, hourMs, dayMs),
    ago: fc.nat(60),
    steps: fc.integer({ min: 1, max: 300 }),
  })
  .map(({ application, stepMs, ago, steps }) =>
    named('look', { application, stepMs, ago, steps }, async () => {
      const span = usageSpan(application, stepMs, nowMs - ago * stepMs, steps);
      assert.deepEqual(await readExact(node, span, nowMs), await countExact(node, span));
    }),
  );

const walk = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: send },
    { weight: 4, arbitrary: start },
    { weight: 3, arbitrary: report },
    { weight: 5, arbitrary: end },
    { weight: 1, arbitrary: expire },
    { weight: 5, arbitrary: wait },
    { weight: 6, arbitrary: sum },
    { weight: 1, arbitrary: tidy },
    { weight: 4, arbitrary: look },
  ),
  { minLength: 40, maxLength: 80 },
);

const spans = () => usageApplications.map((_, index) => usageSpan(index, dayMs, beganMs - 10 * dayMs, 366));

test('at random moments of random walks the answer is what the records say', async () => {
  await fc.assert(
    fc.asyncProperty(walk, async (steps) => {
      nowMs = beganMs;
      await emptyRecords(node);
      for (const step of steps) await step();
      for (const span of spans()) assert.deepEqual(await readExact(node, span, nowMs), await countExact(node, span));
      // When the last pass has gone over all of them, the states are right as well.
      nowMs += 16 * dayMs;
      await sumAll(node, nowMs, 50);
      for (const before of [() => Promise.resolve(), () => deleteAllNeedless(node, nowMs)]) {
        await before();
        for (const span of spans()) {
          assert.deepEqual(await readExact(node, span, nowMs), await countExact(node, span));
          assert.deepEqual(await readStates(node, span, nowMs), await countStates(node, span));
        }
      }
    }),
    // Without shrinking: each step takes milliseconds, and there are thousands of shorter walks.
    { numRuns: inShort(4, 300), endOnFailure: true },
  );
});
