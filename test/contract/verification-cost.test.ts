import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock, toTimestamp } from '../../src/platform/clock.ts';
import type { Database, Tx } from '../../src/platform/database/database.ts';
import { idFloor, newId, uuidOf } from '../../src/platform/ids.ts';
import { decideChecks, spendTries } from '../../src/verify/check-store.ts';
import { lockPending } from '../../src/verify/pending-store.ts';
import { countStarts } from '../../src/verify/start/counts.ts';
import { insertStarts, startFree } from '../../src/verify/start/store.ts';
import type { Verification, VerificationStatus } from '../../src/verify/verification.ts';
import { listVerifications, type VerificationFilter } from '../../src/verify/verification-list.ts';
import { createVerificationRetention } from '../../src/verify/verification-retention.ts';
import { statusCode } from '../../src/verify/verification-row.ts';
import { cancelPending, expireLapsed, expireSome } from '../../src/verify/verification-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';

const ofOneNumber = inShort(20_000, 200_000);
const lapsed = inShort(6000, 300_000);
/** They lie as far apart as it takes to fill 23 hours, or the ten minutes less what the last ones have lived. */
const apartMs = { ofOneNumber: 80_000_000 / ofOneNumber, lapsed: 510_000 / lapsed };
const live = 30;
const number = '+447700900123';
const nowMs = systemClock.nowMs();
const [appOne, appLapsed, appNone] = [1, 2, 3].map(() => newId('app', systemClock)) as [string, string, string];

let db: TestDatabase;
/** One connection, with all the time it needs. */
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 1, timeouts: { connectMs: 30_000, statementMs: 300_000, transactionMs: 300_000 } });
  // Whether there are statistics is for the tests to say.
  await keepVacuumAway(database);
  for (const rows of [oneNumber(), lapsedOnes(), liveOnes()]) await insert(rows);
});
after(() => db.drop());

interface Row {
  id: string;
  application: string;
  to: string;
  status: VerificationStatus;
  attempts: number;
  madeMs: number;
  ttlMs: number;
}

const tables = 'verification, pending_verification, ended_verification, recent_failure, counted_start';

async function keepVacuumAway(on: Database): Promise<void> {
  const { rows } = await on.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relname ~ '^((pending_|ended_)?verification|recent_failure|counted_start)'`,
  );
  for (const { name } of rows) await on.query(`alter table ${name} set (autovacuum_enabled = off)`);
}

/** Over the last 23 hours: half of them blocked, and a few with wrong codes among the oldest. The last is pending. */
function oneNumber(): Row[] {
  return Array.from({ length: ofOneNumber }, (_, n) => ({
    ...at(nowMs - 82_800_000 + n * apartMs.ofOneNumber, n),
    application: appOne,
    to: number,
    status: n === ofOneNumber - 1 ? 'pending' : n % 2 === 0 ? 'blocked' : 'canceled',
    attempts: n < 12 && n % 2 === 1 ? 2 : 0,
    ttlMs: 86_400_000,
  }));
}

/** Of the last ten minutes, each with a minute to live, and not expired yet: a background that has fallen far behind. */
function lapsedOnes(): Row[] {
  return Array.from({ length: lapsed }, (_, n) => ({
    ...at(nowMs - 590_000 + n * apartMs.lapsed, n),
    application: appLapsed,
    to: `+4477${String(10_000_000 + n)}`,
    status: 'pending' as const,
    attempts: 0,
    ttlMs: 60_000,
  }));
}

/** Of the same application, older than all of those, and still alive. */
function liveOnes(): Row[] {
  return Array.from({ length: live }, (_, n) => ({
    ...at(nowMs - 595_000 + n, n),
    application: appLapsed,
    to: `+4478${String(10_000_000 + n)}`,
    status: 'pending' as const,
    attempts: 0,
    ttlMs: 600_000,
  }));
}

function at(ms: number, n: number): Pick<Row, 'id' | 'madeMs'> {
  return { id: idFloor('ver', ms).slice(0, -8) + String(n).padStart(8, '0'), madeMs: Math.floor(ms) };
}

async function insert(rows: Row[], on = database): Promise<void> {
  await on.query(
    `with r as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::smallint[], $5::integer[], $6::timestamptz[], $7::float8[])
         as r(id, application_id, recipient, status, attempts, made, ttl)),
     record as (
       insert into verification (id, application_id, channel, recipient, status, code_length, ring_version, test_number,
         attempts, max_attempts, sends, correlation_id, text_ids, created_at, updated_at, expires_at)
       select id, application_id, 0, recipient, status, 6, 1, false, attempts, 5, 1, id, '{}', made, made,
         made + ttl * interval '1 millisecond' from r),
     pending as (
       insert into pending_verification (verification_id, application_id, expires_at, lifetime_seconds, recipient)
       select id, application_id, made + ttl * interval '1 millisecond', ttl / 1000, recipient from r
       where status = $8),
     ended as (
       insert into ended_verification (verification_id, application_id, status, recipient)
       select id, application_id, status, recipient from r where status <> $8),
     failures as (
       insert into recent_failure (verification_id, application_id, attempts, recipient)
       select id, application_id, attempts, recipient from r where status <> $8 and attempts > 0)
     insert into counted_start (application_id, prefix, verification_id)
     select application_id, left(recipient, -4), id from r where status <> $9`,
    [
      rows.map(({ id }) => uuidOf(id)),
      rows.map(({ application }) => uuidOf(application)),
      rows.map(({ to }) => to),
      rows.map(({ status }) => statusCode(status)),
      rows.map(({ attempts }) => attempts),
      rows.map(({ madeMs }) => toTimestamp(madeMs)),
      rows.map(({ ttlMs }) => ttlMs),
      statusCode('pending'),
      statusCode('blocked'),
    ],
  );
}

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

class RollBack extends Error {}

/** The pages that all statements of a call touched, and what it returned. Nothing of it stays. */
async function costOf<Result>(
  call: (tx: Tx) => Promise<Result>,
  on = database,
): Promise<{ pages: number; result: Result }> {
  let pages = 0;
  let result: Result | undefined;
  await on
    .transaction(async (tx) => {
      result = await call({
        async query<Row>(statement: Parameters<Tx['query']>[0], values: unknown[] = []) {
          const text = typeof statement === 'string' ? statement : statement.text;
          await tx.query('savepoint explained');
          const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
            `explain (analyze, buffers, format json) ${text}`,
            values,
          );
          await tx.query('rollback to savepoint explained');
          const plan = rows[0]?.['QUERY PLAN'][0].Plan;
          assert.ok(plan, 'Postgres explains its plan');
          pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
          return tx.query<Row>(text, values);
        },
      });
      throw new RollBack();
    })
    .catch((error: unknown) => {
      if (!(error instanceof RollBack)) throw error;
    });
  return { pages, result: result as Result };
}

for (const statistics of ['no statistics yet', 'statistics']) {
  describe(`${ofOneNumber} verifications of a number, ${lapsed} lapsed ones of another application, ${statistics}`, () => {
    before(() =>
      statistics === 'statistics' ? database.query(`vacuum (analyze, index_cleanup on) ${tables}`) : undefined,
    );

    const destination = { applicationId: appOne, to: number, prefix: number.slice(0, -4) };

    test('what a start counts: no more rows than its limits', async () => {
      const { pages, result } = await costOf((tx) =>
        countStarts(tx, [destination], { perNumber: 10, perPrefix: 50 }, nowMs),
      );
      const { startsForNumber, startsForPrefix, failuresToday } = result[0] ?? assert.fail();
      assert.deepEqual([startsForNumber, startsForPrefix, failuresToday], [10, 50, 12]);
      assert.ok(pages <= 120, `${pages} pages`);
    });

    test('a start costs as little where nothing is counted, as in the sandbox', async () => {
      const { pages } = await costOf((tx) => countStarts(tx, [destination], { perNumber: 0, perPrefix: 0 }, nowMs));
      assert.ok(pages <= 40, `${pages} pages`);
    });

    test('explain reads few pages', async () => {
      const { pages, result } = await costOf((tx) =>
        countStarts(tx, [destination], { perNumber: 100, perPrefix: 100 }, nowMs),
      );
      assert.deepEqual([result[0]?.startsForNumber, result[0]?.startsForPrefix], [100, 100]);
      assert.ok(pages <= 300, `${pages} pages`);
    });

    test('a start for an unused number of that application costs as little', async () => {
      const other = { applicationId: appOne, to: '+15005550199', prefix: '+1500555' };
      const { pages } = await costOf((tx) => countStarts(tx, [other], { perNumber: 10, perPrefix: 50 }, nowMs));
      assert.ok(pages <= 40, `${pages} pages`);
    });

    test('to lock the open one of a number, to check a code, to cancel', async () => {
      const locked = await costOf((tx) => lockPending(tx, [destination]));
      assert.equal(locked.result.length, 1);
      assert.ok(locked.pages <= 15, `${locked.pages} pages to lock`);
      const id = locked.result[0]?.id ?? '';
      const check = {
        id,
        applicationId: appOne,
        codeLength: 6,
        rightUnder: [],
        isTestCode: false,
        hashes: ['\\x00'],
        payment: null,
      };
      for (const decide of [decideChecks, spendTries]) {
        const checked = await costOf((tx) => decide(tx, [check], nowMs));
        assert.equal(checked.result[0]?.row.attempts, 1);
        assert.ok(checked.pages <= 60, `${checked.pages} pages to check`);
      }
      const canceled = await costOf((tx) => cancelPending(tx, [{ applicationId: appOne, id }], nowMs));
      assert.equal(canceled.result[0]?.status, 'canceled');
      assert.ok(canceled.pages <= 60, `${canceled.pages} pages to cancel`);
    });

    const page = { limit: 21, after: undefined };
    const named = new Map([
      [appOne, 'one number'],
      [appLapsed, 'lapsed ones'],
      [appNone, 'none'],
    ]);
    const lists: [string, VerificationFilter, number][] = [
      [appOne, {}, 21],
      [appOne, { to: number }, 21],
      [appOne, { to: '+15005550199' }, 0],
      [appOne, { to: number, status: 'pending' }, 1],
      [appOne, { to: number, status: 'canceled' }, 21],
      [appOne, { to: number, status: 'failed' }, 0],
      [appOne, { to: number, status: 'expired' }, 0],
      [appOne, { status: 'blocked' }, 21],
      [appOne, { status: 'approved' }, 0],
      [appOne, { status: 'expired' }, 0],
      [appLapsed, { status: 'pending' }, 21],
      [appLapsed, { status: 'expired' }, 21],
      [appLapsed, { status: 'approved' }, 0],
      [appNone, { status: 'pending' }, 0],
      [appNone, { status: 'expired' }, 0],
    ];
    for (const [application, filter, found] of lists) {
      test(`a list of ${named.get(application)} by ${JSON.stringify(filter)}`, async () => {
        const { pages, result } = await costOf((tx) => listVerifications(tx, application, filter, page, nowMs));
        assert.equal(result.length, found);
        assert.ok(pages <= 120, `${pages} pages`);
      });
    }

    test('the last pages of what is live and of what has lapsed', async () => {
      const ids = async (status: 'pending' | 'expired', after: string) => {
        const { pages, result } = await costOf((tx) =>
          listVerifications(tx, appLapsed, { status }, { limit: 21, after }, nowMs),
        );
        assert.ok(pages <= 120, `${pages} pages`);
        return result.map(({ to }) => to);
      };
      const liveOf = (n: number) => `+4478${10_000_000 + n}`;
      const lapsedOf = (n: number) => `+4477${10_000_000 + n}`;
      const lastLive = await ids('pending', at(nowMs - 595_000 + 3, 3).id);
      assert.deepEqual(lastLive, [2, 1, 0].map(liveOf));
      const lastLapsed = await ids('expired', at(nowMs - 590_000 + 3 * apartMs.lapsed, 3).id);
      assert.deepEqual(lastLapsed, [2, 1, 0].map(lapsedOf));
    });

    test('a piece of the background: a thousand rows, and the pages of a thousand rows', async () => {
      const { pages, result } = await costOf((tx) => expireSome(tx, 1000, nowMs));
      assert.equal(result, 1000);
      // Each row is written to its table and its seven indexes.
      assert.ok(pages <= 60_000, `${pages} pages`);
    });
  });
}

test('forget works through all of a number in pieces, each within the usual time', async () => {
  const forgotten = await createVerificationRetention(db.another(), systemClock, 30).forget(number);
  assert.equal(forgotten, ofOneNumber);
  for (const table of ['verification', 'pending_verification', 'ended_verification', 'recent_failure']) {
    const { rows } = await database.query(`select from ${table} where recipient = $1 limit 1`, [number]);
    assert.equal(rows.length, 0, table);
  }
});

/**
 * What one batch may read, at any size: a few index pages for each of its items. A count of two days reads two partitions on
 * Wednesdays and Thursdays: a week begins on Thursday.
 */
const most = { count: 32, lock: 8, insert: 80, check: 50, expire: 80, list: 60 };
const inBatch = 32;
const sizes = [0, 500, ...inShort([5000], [3000, 20_000, 35_000, 70_000, 500_000])];
const manyPending = inShort(8000, 30_000);

for (const applications of [1, 16]) {
  describe(`a batch of starts and of checks while ${applications} applications fill the table`, () => {
    let own: TestDatabase;
    let growing: Database;
    let made = 0;
    before(async () => {
      own = await createTestDatabase();
      growing = own.another({
        poolSize: 1,
        timeouts: { connectMs: 30_000, statementMs: 300_000, transactionMs: 300_000 },
      });
      await keepVacuumAway(growing);
    });
    after(() => own.drop());

    const ids = Array.from({ length: applications }, () => newId('app', systemClock));
    const applicationOf = (n: number) => ids[n % applications] ?? assert.fail();

    /** Pending ones, each of a number and a prefix of its own. */
    async function growTo(size: number): Promise<void> {
      const rows = Array.from({ length: size - made }, (_, n) => ({
        ...at(nowMs - 300_000 + (made + n) / 10, made + n),
        application: applicationOf(made + n),
        to: `+447${String(((made + n) * 7919) % 1e9).padStart(9, '0')}`,
        status: 'pending' as const,
        attempts: 0,
        ttlMs: 600_000,
      }));
      await insert(rows, growing);
      made = size;
    }

    async function assertCheap(state: string): Promise<void> {
      const within = async (what: keyof typeof most, items: number, call: (tx: Tx) => Promise<unknown>) => {
        const { pages } = await costOf(call, growing);
        assert.ok(pages <= most[what] * items, `${what}: ${pages} pages at ${made} rows, ${state}`);
      };
      const fresh = Array.from({ length: inBatch }, (_, n) => {
        const to = `+4480${String(n * 10_007).padStart(8, '0')}`;
        return { applicationId: applicationOf(n), to, prefix: to.slice(0, -4) };
      });
      const newest = Math.max(0, made - inBatch);
      const open = Array.from({ length: made - newest }, (_, n) => ({
        ...at(nowMs - 300_000 + (newest + n) / 10, newest + n),
        applicationId: applicationOf(newest + n),
      }));
      const checks = open.map((row) => ({
        ...row,
        codeLength: 6,
        rightUnder: [],
        isTestCode: false,
        payment: null,
        hashes: ['\\x00'],
      }));
      for (const size of [1, inBatch]) {
        const starts = fresh.slice(0, size);
        await within('count', size, (tx) => countStarts(tx, starts, { perNumber: 10, perPrefix: 50 }, nowMs));
        await within('count', size, (tx) => countStarts(tx, starts, { perNumber: 0, perPrefix: 0 }, nowMs));
        await within('lock', size, (tx) => lockPending(tx, starts));
        await within('insert', size, (tx) => startFree(tx, starts.map(toStart), [], nowMs));
        await within('insert', size, (tx) => insertStarts(tx, starts.map(toStart), [], true));
        if (made > 0) await within('check', size, (tx) => decideChecks(tx, checks.slice(0, size), nowMs));
        if (made > 0) await within('check', size, (tx) => spendTries(tx, checks.slice(0, size), nowMs));
        if (made > 0) await within('expire', size, (tx) => expireLapsed(tx, open.slice(0, size), nowMs + 600_000));
      }
      const page = { limit: 21, after: undefined };
      for (const status of [undefined, 'pending', 'canceled'] as const) {
        await within('list', 1, (tx) =>
          listVerifications(tx, applicationOf(0), { to: '+15005550199', status }, page, nowMs),
        );
      }
    }

    for (const size of sizes) {
      test(`${size} rows`, async () => {
        await growTo(size);
        await assertCheap('with the statistics of the size before');
        // An analyze that finds pages but no row makes every index look free. Only a vacuum, which removes the pages, helps.
        if (size > 0) await growing.query(`analyze ${tables}`);
        if (size > 0) await assertCheap('analyzed');
        await growing.query(`vacuum (analyze, index_cleanup on) ${tables}`);
        await assertCheap('vacuumed');
      });
    }

    test('as many again, with the statistics of an hour in which nothing was pending', async () => {
      await growing.query('update verification set status = $1', [statusCode('approved')]);
      await growing.query(
        `with ended as (delete from pending_verification returning verification_id, application_id, recipient)
         insert into ended_verification (verification_id, application_id, recipient, status) select *, $1 from ended`,
        [statusCode('approved')],
      );
      await growing.query(`vacuum (analyze, index_cleanup on) ${tables}`);
      await assertCheap('none pending');
      await growTo(made + manyPending);
      await assertCheap(`${manyPending} pending since the last analyze`);
    });
  });
}

const toStart = (start: { applicationId: string; to: string }, place: number) => ({
  verification: toVerification(start, place),
  clients: [],
});

function toVerification({ applicationId, to }: { applicationId: string; to: string }, n: number): Verification {
  return {
    ...{ id: at(nowMs, n).id, applicationId, to, channel: 'sms', status: 'pending', reason: null },
    ...{
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
    },
    ...{
      correlationId: newId('req', systemClock),
      textIds: [],
      resendAvailableAtMs: nowMs,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    },
    ...{ expiresAtMs: nowMs + 600_000, approvedAtMs: null, outcome: null },
  };
}
