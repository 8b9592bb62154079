import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock as clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { startFree } from '../../src/verify/start-store.ts';
import type { Verification } from '../../src/verify/verification.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
/** One connection of each kind, so that a plan it has made stays made. */
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 1 });
});
after(() => db.drop());

describe('a statement that is planned once', () => {
  const text = `select generic_plans as kept, custom_plans as own from pg_prepared_statements
    where name = 'plans-of-this' and $1::integer > 0`;
  const plansOf = async (statement: { name: string; text: string; planOnce?: true }) => {
    for (let round = 0; round < 9; round++) await database.query(statement, [1]);
    const { rows } = await database.query(statement, [1]);
    return rows[0];
  };

  test('has one plan for all executions, and others have one for each', async () => {
    assert.deepEqual(await plansOf({ name: 'plans-of-this', text, planOnce: true }), { kept: 10, own: 0 });
    assert.deepEqual(await plansOf({ name: 'plans-of-this', text }), { kept: 0, own: 10 });
  });

  test('in a transaction it is planned each time', async () => {
    const statement = { name: 'plans-of-this', text, planOnce: true } as const;
    const { rows } = await database.transaction((tx) => tx.query(statement, [1]));
    assert.deepEqual(rows[0], { kept: 0, own: 11 });
  });
});

describe('a start that was planned when no code had been wrong', () => {
  const applicationId = newId('app', clock);
  let numbers = 0;
  const start = (to = `+4477009${String(numbers++).padStart(5, '0')}`): Verification => ({
    id: newId('ver', clock),
    applicationId,
    channel: 'sms',
    to,
    status: 'pending',
    reason: null,
    codeLength: 6,
    ringVersion: 1,
    testNumber: false,
    attempts: 0,
    maxAttempts: 5,
    sends: 1,
    reference: null,
    correlationId: newId('req', clock),
    textIds: [],
    resendAvailableAtMs: null,
    createdAtMs: clock.nowMs(),
    updatedAtMs: clock.nowMs(),
    expiresAtMs: clock.nowMs() + 600_000,
    approvedAtMs: null,
  });
  const startedOf = async (...starts: Verification[]) => (await startFree(database, starts, [], clock.nowMs())).size;

  test('finds the wrong codes of its number by the primary key when there are many', async () => {
    for (let round = 0; round < 10; round++) assert.equal(await startedOf(start()), 1);
    await database.query(
      `insert into recent_failure (verification_id, application_id, attempts, recipient)
       select ($1 || lpad(to_hex(n), 12, '0'))::uuid, $2, 1, '+1500555' || lpad(n::text, 4, '0')
       from generate_series(1, 9999) n`,
      [uuidOf(newId('ver', clock)).slice(0, 24), uuidOf(applicationId)],
    );
    assert.equal(await startedOf(start(), start('+15005550001'), start('+15005559999')), 1);
    await database.query('select pg_stat_force_next_flush()');
    await database.query({ name: 'flush', text: 'select pg_stat_force_next_flush()', planOnce: true });
    await database.query({ name: 'nothing', text: 'select 1', planOnce: true });
    const { rows } = await database.query<{ name: string; read: number }>(
      `select indexrelname as name, idx_tup_read as read from pg_stat_user_indexes where relname = 'recent_failure'
       order by indexrelname`,
    );
    assert.deepEqual(rows, [
      { name: 'recent_failure_age', read: 0 },
      { name: 'recent_failure_pkey', read: 2 },
    ]);
  });
});
