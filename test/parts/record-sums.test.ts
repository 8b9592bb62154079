// Usage is read from sums and the newest records. Whatever happens in whatever order, it is what the records say.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { apiNames, messageStatuses } from '../../src/messages/message.ts';
import { messagesBySteps, summedMessages } from '../../src/messages/message-usage-store.ts';
import { dayMs, hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import { partitionWeekMs } from '../../src/platform/partitions.ts';
import { deleteSums, sumSome } from '../../src/platform/record-sums.ts';
import type { Span } from '../../src/platform/steps.ts';
import { statusCode, statusOf } from '../../src/verify/verification-row.ts';
import { summedVerifications, verificationsBySteps } from '../../src/verify/verification-usage-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';

let db: TestDatabase;
let node: Database;
let otherNode: Database;
before(async () => {
  db = await createTestDatabase();
  node = db.database;
  otherNode = db.another({ poolSize: 4 });
});
after(() => db.drop());

/** The partitions of this week and the next four are there; what is later goes into the default one. */
const beganMs = Math.floor(Date.now() / partitionWeekMs) * partitionWeekMs + 5 * dayMs;
let nowMs = beganMs;
let made = 0;
beforeEach(empty);

async function empty(): Promise<void> {
  nowMs = beganMs;
  made = 0;
  await node.query('truncate message, verification, message_sum, verification_sum, walk');
}

const applications = [1, 2].map((n) => fromUuid('app', uuidFloor(n)));
const applicationOf = (n: number) => applications[n % applications.length] ?? '';
const summedTables = [summedMessages, summedVerifications];

/** An id of this time that no other row has. */
function newUuid(madeMs: number): string {
  return uuidFloor(madeMs).slice(0, 24) + (++made).toString(16).padStart(12, '0');
}

interface Texts {
  application: number;
  count: number;
  api: number;
  segments: number;
  madeMs: number;
}

async function insertTexts({ application, count, api, segments, madeMs }: Texts): Promise<void> {
  await node.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     select id, $2, $3, 0, '+447700900123', 'ACME', 0, 0, $4, 5, 155, $2, $5, $5, $5, 'test' from unnest($1::uuid[]) as i(id)`,
    [
      Array.from({ length: count }, () => newUuid(madeMs)),
      uuidOf(applicationOf(application)),
      api,
      segments,
      toTimestamp(madeMs),
    ],
  );
}

async function insertVerification(application: number, madeMs: number, ttlMs: number, status: number): Promise<void> {
  await node.query(
    `insert into verification (id, application_id, channel, recipient, status, code_length, ring_version, test_number,
       max_attempts, sends, correlation_id, text_ids, created_at, updated_at, expires_at)
     values ($1, $2, 0, '+447700900123', $3, 6, 1, false, 5, 1, $1, '{}', $4, $4, $5)`,
    [newUuid(madeMs), uuidOf(applicationOf(application)), status, toTimestamp(madeMs), toTimestamp(madeMs + ttlMs)],
  );
}

type Counted = Record<string, { count: number; segments: number }>;

function add(counted: Counted, key: string, count: number, segments = 0): void {
  const before = counted[key] ?? { count: 0, segments: 0 };
  counted[key] = { count: before.count + count, segments: before.segments + segments };
}

/** What a caller may rely on at any moment: by API and step, and how many verifications were approved or blocked. */
async function readExact(span: Span): Promise<Counted> {
  const counted: Counted = {};
  for (const { api, step, count, segments } of await messagesBySteps(node, span, nowMs)) {
    add(counted, `${api} ${step}`, count, segments);
  }
  for (const { step, status, count } of await verificationsBySteps(node, span, nowMs)) {
    add(counted, `verifications ${step}`, count);
    if (status === 'approved' || status === 'blocked') add(counted, `${status} ${step}`, count);
  }
  return counted;
}

interface Recorded {
  id: string;
  kind: number;
  status: number;
  segments: number;
}

/** All records of the span, read one by one. */
async function recordsOf(
  table: 'message' | 'verification',
  { applicationId, fromMs, toMs }: Span,
): Promise<Recorded[]> {
  const columns = table === 'message' ? 'api as kind, segment_count as segments' : '0 as kind, 0 as segments';
  const { rows } = await node.query<Recorded>(
    `select id, status, ${columns} from ${table} where application_id = $1 and id >= $2 and id < $3`,
    [uuidOf(applicationId), uuidFloor(fromMs), uuidFloor(toMs)],
  );
  return rows;
}

function stepOf(id: string, { stepMs }: Span): number {
  return Math.floor(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) / stepMs);
}

async function countExact(span: Span): Promise<Counted> {
  const counted: Counted = {};
  for (const { id, kind, segments } of await recordsOf('message', span)) {
    add(counted, `${apiNames[kind]} ${stepOf(id, span)}`, 1, segments);
  }
  for (const { id, status } of await recordsOf('verification', span)) {
    add(counted, `verifications ${stepOf(id, span)}`, 1);
    const name = statusOf(status);
    if (name === 'approved' || name === 'blocked') add(counted, `${name} ${stepOf(id, span)}`, 1);
  }
  return counted;
}

/** The states, which may lag behind for older records. */
async function readStates(span: Span): Promise<Counted> {
  const states: Counted = {};
  for (const { status, count } of await messagesBySteps(node, span, nowMs)) add(states, `message ${status}`, count);
  for (const { status, count } of await verificationsBySteps(node, span, nowMs)) add(states, status, count);
  return states;
}

async function countStates(span: Span): Promise<Counted> {
  const states: Counted = {};
  for (const { status } of await recordsOf('message', span)) add(states, `message ${messageStatuses[status]}`, 1);
  for (const { status } of await recordsOf('verification', span)) {
    add(states, statusOf(status) === 'pending' ? 'expired' : statusOf(status), 1);
  }
  return states;
}

function spanOf(application: number, stepMs: number, fromMs: number, steps: number): Span {
  const from = Math.floor(fromMs / stepMs) * stepMs;
  return { applicationId: applicationOf(application), fromMs: from, toMs: from + steps * stepMs, stepMs };
}

const wholeYear = (application: number) => spanOf(application, dayMs, beganMs - 10 * dayMs, 366);

async function sumAll(atMs = nowMs, limit?: number): Promise<void> {
  for (const summed of summedTables) while ((await sumSome(node, summed, atMs, limit)) > 0);
}

async function cleanAll(): Promise<void> {
  for (const summed of summedTables) while ((await deleteSums(node, summed, nowMs, nowMs - 365 * dayMs)) > 0);
}

/** Deeds of callers, carriers, chores and time. */
type Deed = () => Promise<unknown>;
const which = fc.nat(1);
/** How late an insert may commit after its id was made; a node's clock may also be ahead. */
const lateMs = fc.integer({ min: -2000, max: 150_000 });
const skewMs = fc.integer({ min: -2000, max: 2000 });

const send = fc
  .record({
    application: which,
    count: fc.integer({ min: 1, max: 4 }),
    api: fc.nat(2),
    segments: fc.integer({ min: 1, max: 9 }),
    lateMs,
  })
  .map(
    ({ lateMs, ...texts }): Deed =>
      () =>
        insertTexts({ ...texts, madeMs: nowMs - lateMs }),
  );
const start = fc
  .tuple(which, lateMs, fc.integer({ min: 60, max: 600 }), fc.constantFrom('pending', 'pending', 'blocked'))
  .map(
    ([application, late, ttl, status]): Deed =>
      () =>
        insertVerification(application, nowMs - late, ttl * 1000, statusCode(status as 'pending' | 'blocked')),
  );
const report = fc.tuple(fc.nat(messageStatuses.length - 1), fc.nat(9)).map(
  ([status, place]): Deed =>
    () =>
      node.query(
        'update message set status = $1 where id = (select id from message order by id desc offset $2 limit 1)',
        [status, place],
      ),
);
const end = fc.tuple(fc.constantFrom('approved', 'failed', 'canceled'), fc.nat(3), skewMs).map(
  ([status, place, skew]): Deed =>
    () =>
      node.query(
        `update verification set status = $1 where id = (
         select id from verification where status = $2 and expires_at > $3 order by id offset $4 limit 1)`,
        [statusCode(status as 'approved'), statusCode('pending'), toTimestamp(nowMs + skew), place],
      ),
);
const expire: Deed = () =>
  node.query('update verification set status = $1 where status = $2 and expires_at <= $3', [
    statusCode('expired'),
    statusCode('pending'),
    toTimestamp(nowMs),
  ]);
const pass = fc
  .constantFrom(
    1000,
    20_000,
    minuteMs,
    4 * minuteMs,
    15 * minuteMs,
    50 * minuteMs,
    5 * hourMs,
    dayMs,
    3 * dayMs,
    12 * dayMs,
  )
  .map(
    (ms): Deed =>
      async () => {
        nowMs += ms;
      },
  );
const sum = fc.tuple(which, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 9 }), skewMs).map(
  ([nodes, pieces, limit, skew]): Deed =>
    async () => {
      const work = async (database: Database) => {
        for (let piece = 0; piece < pieces; piece++) {
          for (const summed of summedTables) await sumSome(database, summed, nowMs + skew, limit);
        }
      };
      await Promise.all([node, otherNode].slice(0, nodes + 1).map(work));
    },
);
const clean: Deed = () => cleanAll();
const look = fc
  .tuple(which, fc.constantFrom(minuteMs, hourMs, dayMs), fc.nat(60), fc.integer({ min: 1, max: 300 }))
  .map(
    ([application, stepMs, ago, steps]): Deed =>
      async () => {
        const span = spanOf(application, stepMs, nowMs - ago * stepMs, steps);
        assert.deepEqual(await readExact(span), await countExact(span));
      },
  );

describe('sums of records', () => {
  test('at random moments of random walks the answer is what the records say', async () => {
    const deeds = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: send },
        { weight: 3, arbitrary: start },
        { weight: 3, arbitrary: report },
        { weight: 2, arbitrary: end },
        { weight: 1, arbitrary: fc.constant(expire) },
        { weight: 5, arbitrary: pass },
        { weight: 6, arbitrary: sum },
        { weight: 1, arbitrary: fc.constant(clean) },
        { weight: 4, arbitrary: look },
      ),
      { minLength: 30, maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(deeds, async (walk) => {
        await empty();
        for (const deed of walk) await deed();
        for (const application of applications.keys()) {
          assert.deepEqual(await readExact(wholeYear(application)), await countExact(wholeYear(application)));
        }
        // When the last pass has gone over all of them, the states are right as well.
        nowMs += 16 * dayMs;
        await sumAll(nowMs, 50);
        for (const tidy of [() => Promise.resolve(), cleanAll]) {
          await tidy();
          for (const application of applications.keys()) {
            const span = wholeYear(application);
            assert.deepEqual(await readExact(span), await countExact(span));
            assert.deepEqual(await readStates(span), await countStates(span));
          }
        }
      }),
      { numRuns: inShort(6, 300) },
    );
  });
});
