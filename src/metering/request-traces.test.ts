import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import type { Answered } from '../http/gate.ts';
import { newId } from '../platform/ids.ts';
import { createRequestTraces } from './request-traces.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

const clock = createTestClock();

function asked(applicationId: string): Answered {
  return {
    correlationId: newId('req', clock),
    caller: { kind: 'application', applicationId, applicationName: 'ACME', registrationId: 'reg_1', api: 'sms' },
    decision: { admitted: true, limits: { perMinute: 60 }, remaining: 1, retryAfterMs: 0, refusedBy: undefined },
    method: 'POST',
    path: '/sms/v1/messages',
    status: 201,
    refusal: undefined,
    durationMs: 1,
    id: undefined,
    location: undefined,
  };
}

async function written(applicationId: string): Promise<number> {
  const statement = 'select count(*) as count from request_trace where application_id = $1';
  return (await db.database.query<{ count: number }>(statement, [applicationId])).rows[0]?.count ?? 0;
}

test('what is due is written; who asks very much waits half a minute, unless somebody looks', async () => {
  const traces = createRequestTraces(db.database, clock);
  const [quiet, busy] = [newId('app', clock), newId('app', clock)];
  for (let i = 0; i < 3; i++) traces.note(asked(quiet));
  for (let i = 0; i < 201; i++) traces.note(asked(busy));
  await traces.flush('due');
  assert.deepEqual([await written(quiet), await written(busy)], [3, 0]);
  clock.advance(29_000);
  await traces.flush('due');
  assert.equal(await written(busy), 0);
  clock.advance(1000);
  await traces.flush('due');
  assert.equal(await written(busy), 201);

  for (let i = 0; i < 201; i++) traces.note(asked(busy));
  await traces.flush('all');
  assert.equal(await written(busy), 402);
});

test('many who ask very much take turns', async () => {
  const traces = createRequestTraces(db.database, clock);
  const busy = Array.from({ length: 5 }, () => newId('app', clock));
  for (const id of busy) for (let i = 0; i < 201; i++) traces.note(asked(id));
  clock.advance(30_000);
  const done: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await traces.flush('due');
    const counts = await Promise.all(busy.map(written));
    done.push(counts.filter((count) => count === 201).length);
  }
  assert.deepEqual(done, [2, 4, 5]);
});

test('of an application that asks ever more the newest thousand are written', async () => {
  const traces = createRequestTraces(db.database, clock);
  const busy = newId('app', clock);
  const all = Array.from({ length: 4500 }, () => asked(busy));
  for (const each of all) traces.note(each);
  await traces.flush('all');
  const { rows } = await db.database.query<{ id: string }>(
    'select id from request_trace where application_id = $1 order by id',
    [busy],
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    all.slice(-1000).map(({ correlationId }) => correlationId),
  );
});
