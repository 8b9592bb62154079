import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CountedRequest } from '../../src/http/admission.ts';
import { everyRight } from '../../src/http/sending-rights.ts';
import { createTraceDeletion, listTraces, tracesKeptMs } from '../../src/metering/metering-store.ts';
import { createTraceBuffer, type TraceBuffer } from '../../src/metering/trace-buffer.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { idFloor, newId } from '../../src/platform/ids.ts';
import { ownedText } from '../../src/platform/owned-text.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

const clock = createTestClock();

function answered(applicationId: string): CountedRequest {
  return {
    caller: {
      kind: 'application',
      applicationId,
      applicationName: 'ACME',
      registrationId: 'reg_1',
      windowKey: 'app:sms',
      api: 'sms',
      highPriority: false,
      rights: everyRight,
    },
    correlationId: newId('req', clock),
    decision: {
      admitted: true,
      limits: { perMinute: 60, burst: 20 },
      remaining: 1,
      resetMs: 60_000,
      nextFreeMs: 0,
      retryAfterMs: 0,
      refusedBy: undefined,
      chargedAtMs: undefined,
    },
    method: 'POST',
    path: '/sms/v1/messages',
    status: 201,
    isUnserved: false,
    refusal: undefined,
    outcome: undefined,
    durationMs: 1,
    id: undefined,
    location: undefined,
  };
}

/** Adds this many requests of an application. Returns their ids. */
function createNoter(traces: TraceBuffer, applicationId: string): (count: number) => string[] {
  return (count) =>
    Array.from({ length: count }, () => {
      const request = answered(applicationId);
      traces.add(request);
      return request.correlationId;
    });
}

async function written(applicationId: string): Promise<number> {
  const statement = 'select count(*) as count from request_trace where application_id = $1';
  return (await db.database.query<{ count: number }>(statement, [applicationId])).rows[0]?.count ?? 0;
}

test('due requests are written; those of a busy application wait half a minute, unless a reader asks', async () => {
  const traces = createTraceBuffer(db.database, clock);
  const [quiet, busy] = [newId('app', clock), newId('app', clock)];
  const [ask, askMuch] = [createNoter(traces, quiet), createNoter(traces, busy)];
  ask(3);
  askMuch(201);
  await traces.flush('due');
  assert.deepEqual([await written(quiet), await written(busy)], [3, 0]);
  clock.advance(29_000);
  await traces.flush('due');
  assert.equal(await written(busy), 0);
  clock.advance(1000);
  await traces.flush('due');
  assert.equal(await written(busy), 201);

  askMuch(201);
  await traces.flush('all');
  assert.equal(await written(busy), 402);
});

test('a busy application that has waited long enough delays no other', async () => {
  const traces = createTraceBuffer(db.database, clock);
  const busy = Array.from({ length: 5 }, () => newId('app', clock));
  for (const id of busy) createNoter(traces, id)(201);
  clock.advance(15_000);
  const [later, quiet] = [newId('app', clock), newId('app', clock)];
  createNoter(traces, later)(201);
  createNoter(traces, quiet)(1);
  clock.advance(15_000);
  await traces.flush('due');
  assert.deepEqual(await Promise.all(busy.map(written)), [201, 201, 201, 201, 201]);
  assert.deepEqual([await written(later), await written(quiet)], [0, 1]);
  clock.advance(15_000);
  await traces.flush('due');
  assert.equal(await written(later), 201);
});

test('of an application that asks ever more the newest thousand are written', async () => {
  const traces = createTraceBuffer(db.database, clock);
  const busy = newId('app', clock);
  const all = createNoter(traces, busy)(4500);
  await traces.flush('all');
  const { rows } = await db.database.query<{ id: string }>(
    'select id from request_trace where application_id = $1 order by id',
    [busy],
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    all.slice(-1000),
  );
});

test('traces older than a day are deleted, of thousands of applications in small pieces', async () => {
  await db.database.query('delete from request_trace');
  const dayAgo = clock.nowMs() - tracesKeptMs;
  await db.database.query(
    `insert into request_trace (id, application_id, api, method, status, details, duration_ms, admitted, limit_per_minute, remaining)
     select id || n, 'app_' || lpad(n::text, 5, '0'), 'sms', 'GET', 200, '[]', 1, true, 60, 59
     from generate_series(1, 2300) n, unnest($1::text[]) id where n % 3 > 0 or id = $2`,
    [
      [idFloor('req', dayAgo - 2000), idFloor('req', dayAgo - 1000), idFloor('req', dayAgo + 1000)],
      idFloor('req', dayAgo + 1000),
    ],
  );
  const pieces: number[] = [];
  const deleteSome = createTraceDeletion(db.database, clock);
  for (let rows = await deleteSome(); rows > 0; rows = await deleteSome()) pieces.push(rows);
  assert.ok(Math.max(...pieces) <= 1000, `pieces of ${pieces}`);
  const { rows } = await db.database.query<{ all: number; old: number }>(
    'select count(*) as all, count(*) filter (where id < $1) as old from request_trace',
    [idFloor('req', dayAgo)],
  );
  assert.deepEqual(rows, [{ all: 2300, old: 0 }]);
  assert.equal(await deleteSome(), 1, 'the next round begins with the first applications');
});

test('what could not be written is written with what has come since, and nothing twice', async () => {
  let away = false;
  const database: Database = {
    ...db.database,
    query: (statement, values) =>
      away
        ? Promise.reject(new ApiError('UNAVAILABLE', 'The database is away.'))
        : db.database.query(statement, values),
  };
  const traces = createTraceBuffer(database, clock);
  const [often, once, late] = [newId('app', clock), newId('app', clock), newId('app', clock)];
  const askOften = createNoter(traces, often);
  const all = askOften(3);
  createNoter(traces, once)(2);
  away = true;
  for (let round = 0; round < 3; round++) {
    const failed = traces.flush('all');
    // While it is being written, and after that has failed.
    all.push(...askOften(4));
    await assert.rejects(failed);
    all.push(...askOften(5));
  }
  createNoter(traces, late)(1);
  away = false;
  await traces.flush('all');
  await traces.flush('all');
  assert.deepEqual([await written(often), await written(once), await written(late)], [30, 2, 1]);
  const { rows } = await db.database.query<{ id: string }>('select id from request_trace where application_id = $1', [
    often,
  ]);
  assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(all));
});

test('many are written some at a time, and when the database goes away in between each is written once', async () => {
  let answers = 3;
  const database: Database = {
    ...db.database,
    query: (statement, values) =>
      answers-- > 0
        ? db.database.query(statement, values)
        : Promise.reject(new ApiError('UNAVAILABLE', 'The database is away.')),
  };
  const traces = createTraceBuffer(database, clock);
  const ids = Array.from({ length: 60 }, () => newId('app', clock));
  const noters = ids.map((id) => createNoter(traces, id));
  for (const ask of noters) ask(150);
  await assert.rejects(traces.flush('all'));
  const part = (await Promise.all(ids.map(written))).filter((count) => count === 150).length;
  assert.ok(part > 10 && part < 50, `${part} of 60 in the first writes`);
  for (const ask of noters) ask(1);
  answers = Number.POSITIVE_INFINITY;
  await traces.flush('all');
  assert.deepEqual(new Set(await Promise.all(ids.map(written))), new Set([151]));
});

test('while the database is away no more wait than there is room for', async () => {
  let away = true;
  const database: Database = {
    ...db.database,
    query: (statement, values) =>
      away
        ? Promise.reject(new ApiError('UNAVAILABLE', 'The database is away.'))
        : db.database.query(statement, values),
  };
  const traces = createTraceBuffer(database, clock);
  const ids = Array.from({ length: 200 }, () => newId('app', clock));
  const noters = ids.map((id) => createNoter(traces, id));
  for (let round = 0; round < 2; round++) {
    for (const ask of noters) ask(150);
    const failed = traces.flush('all');
    for (const ask of noters) ask(150);
    await assert.rejects(failed);
  }
  away = false;
  await traces.flush('all');
  const counts = await Promise.all(ids.map(written));
  const all = counts.reduce((sum, count) => sum + count, 0);
  assert.ok(all >= 49_000 && all <= 51_000, `${all} were kept`);
});

test('rows are as they were noted, whatever a refusal says', async () => {
  const traces = createTraceBuffer(db.database, clock);
  const applicationId = newId('app', clock);
  const details = [{ field: 'to\0\x1e\x1f\ude00', message: 'é \u2713 "quoted" \\' }];
  const refusal = new ApiError('INVALID_ARGUMENT', 'é ✓ \0\x1d\x1e\x1f 😀 \ud83d', { details });
  const messageId = newId('msg', clock);
  const first = {
    ...answered(applicationId),
    status: 400,
    refusal,
    path: '/sms/v1/messages/{id}',
    id: ownedText(messageId),
  };
  const noted = answered(applicationId);
  const second = {
    ...noted,
    status: 429,
    refusal: new ApiError('RATE_LIMITED', 'Too many.'),
    decision: { ...noted.decision, admitted: false, remaining: 0, retryAfterMs: 1500, refusedBy: 'burst' as const },
    path: undefined,
    durationMs: 12.34,
  };
  const third = {
    ...answered(applicationId),
    location: `/sms/v1/messages/${messageId}`,
    id: ownedText('not one of ours'),
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  };
  for (const request of [first, second, third]) traces.add(request);
  await traces.flush('all');
  const rows = await listTraces(db.database, applicationId, { limit: 10, after: undefined }, clock.nowMs());
  const common = { applicationId, api: 'sms', method: 'POST', limitPerMinute: 60 };
  assert.deepEqual(rows.reverse(), [
    {
      ...common,
      id: first.correlationId,
      path: `/sms/v1/messages/${messageId}`,
      status: 400,
      code: 'INVALID_ARGUMENT',
      message: 'é ✓ \ufffd\x1d\x1e\x1f 😀 \ufffd',
      details: [{ field: 'to\ufffd\x1e\x1f\ufffd', message: details[0]?.message }],
      durationMs: 1,
      admitted: true,
      remaining: 1,
      retryAfterSeconds: null,
      refusedBy: null,
      recordId: messageId,
      traceId: null,
    },
    {
      ...common,
      id: second.correlationId,
      path: null,
      status: 429,
      code: null,
      message: 'Too many.',
      details: [],
      durationMs: 12.3,
      admitted: false,
      remaining: 0,
      retryAfterSeconds: 2,
      refusedBy: 'burst',
      recordId: null,
      traceId: null,
    },
    {
      ...common,
      id: third.correlationId,
      path: '/sms/v1/messages',
      status: 201,
      code: null,
      message: null,
      details: [],
      durationMs: 1,
      admitted: true,
      remaining: 1,
      retryAfterSeconds: null,
      refusedBy: null,
      recordId: messageId,
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    },
  ]);
});
