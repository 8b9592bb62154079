import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { systemClock as clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createDirectory } from '../../src/registry/directory.ts';
import { startFree } from '../../src/verify/start/store.ts';
import type { Verification } from '../../src/verify/verification.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
/** The rows that statements have read, of each table and in all its indexes, without those that read none. */
async function readRows(names: string[]): Promise<Record<string, number>> {
  await database.query('select pg_stat_force_next_flush()');
  await database.query({ name: 'flush', text: 'select pg_stat_force_next_flush()', planOnce: true });
  await database.query({ name: 'nothing', text: 'select 1', planOnce: true });
  const { rows } = await database.query<{ name: string; read: number }>(
    `select relname as name, (coalesce(seq_tup_read, 0) + coalesce((select sum(idx_tup_read) from pg_stat_user_indexes i
       where i.relid = t.relid), 0))::integer as read
     from pg_stat_user_tables t where relname = any($1) order by 1`,
    [names],
  );
  return Object.fromEntries(rows.map(({ name, read }) => [name, read]));
}

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
    codeHash: null,
    payment: null,
    precheck: null,
    inbound: null,
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
    outcome: null,
  });
  const startedOf = async (...starts: Verification[]) => {
    const rows = starts.map((verification) => ({ verification, clients: [] }));
    return (await startFree(database, rows, [], clock.nowMs())).size;
  };

  test('finds the wrong codes of its number by the primary key when there are many', async () => {
    for (let round = 0; round < 10; round++) assert.equal(await startedOf(start()), 1);
    await database.query(
      `insert into recent_failure (verification_id, application_id, attempts, recipient)
       select ($1 || lpad(to_hex(n), 12, '0'))::uuid, $2, 1, '+1500555' || lpad(n::text, 4, '0')
       from generate_series(1, 9999) n`,
      [uuidOf(newId('ver', clock)).slice(0, 24), uuidOf(applicationId)],
    );
    assert.equal(await startedOf(start(), start('+15005550001'), start('+15005559999')), 1);
    await readRows([]);
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

describe('a key that is looked up by a statement planned when there was no application', () => {
  const limits = { perMinute: 60, burst: 10 };
  const tables = [
    'api_key',
    'application',
    'registration',
    'account',
    'oauth_client',
    'sender',
    'own_number',
    'guard_hold',
  ];

  test('reads the rows of its application and no others', async () => {
    const directory = createDirectory({
      database,
      plans: { free: limits, pro: limits, enterprise: limits },
      config: { environment: 'production', senders: 'open' },
      feed: () => ({ isTrusted: () => true }),
    });
    for (let round = 0; round < 3; round++) assert.equal(await directory.readKey([Buffer.from('unknown')]), undefined);
    await database.query(`insert into account (id, name, created_at) values ('acc_1', 'One', now())`);
    await database.query(`with a as (
        insert into application (id, account_id, name, created_at, updated_at)
        select 'app_' || n, 'acc_1', 'Many', now(), now() from generate_series(1, 5000) n returning id),
      r as (
        insert into registration (id, application_id, api, plan, status, created_at, updated_at)
        select 'reg_' || id, id, 'sms', 'free', 'approved', now(), now() from a),
      s as (
        insert into sender (id, application_id, sender, countries, status, created_at)
        select 'snd_' || id, id, 'ACME', '{}', 'approved', now() from a),
      o as (
        insert into own_number (id, application_id, number, api, created_at, updated_at)
        select gen_random_uuid(), id, '+44' || id, 0, now(), now() from a),
      h as (
        insert into guard_hold (id, application_id, scope, numbers, approved, least_share, acts, began_at, until,
          ended_at)
        select 'hld_' || n, 'app_4000', 'all', 1, 1, 0.5, true, now(), now(), now()
        from generate_series(1, 3000) n)
      insert into api_key (id, application_id, hash, prefix, last_four, created_at)
      select 'key_' || id, id, sha256(id::bytea), 'hg_', 'last', now() from a`);
    const before = await readRows(tables);
    const hash = createHash('sha256').update('app_4000').digest();
    const found = await directory.readKey([hash, Buffer.from('of another version')]);
    assert.equal(found?.application.id, 'app_4000');
    const after = await readRows(tables);
    const read = Object.fromEntries(tables.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
    assert.deepEqual(read, {
      api_key: 1,
      application: 1,
      registration: 1,
      account: 1,
      oauth_client: 0,
      sender: 1,
      own_number: 1,
      guard_hold: 0,
    });
  });
});
