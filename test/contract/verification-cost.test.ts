import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock, toTimestamp } from '../../src/platform/clock.ts';
import type { Database, Tx } from '../../src/platform/database.ts';
import { idFloor } from '../../src/platform/ids.ts';
import { countStarts, expireLapsed, insertStarts, lockPending } from '../../src/verify/start-store.ts';
import type { Verification } from '../../src/verify/verification.ts';
import { listVerifications, type VerificationFilter } from '../../src/verify/verification-list.ts';
import { createVerificationRetention } from '../../src/verify/verification-retention.ts';
import { cancelPending, decideChecks, expireSome } from '../../src/verify/verification-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';

const ofOneNumber = inShort(50_000, 200_000);
const lapsed = inShort(60_000, 300_000);
/** They lie as far apart as it takes to fill 23 hours, or the ten minutes less what the last ones have lived. */
const apartMs = { ofOneNumber: 80_000_000 / ofOneNumber, lapsed: 510_000 / lapsed };
const live = 30;
const number = '+447700900123';
const nowMs = systemClock.nowMs();

let db: TestDatabase;
/** One connection, with all the time it needs. */
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 1, timeouts: { statementMs: 300_000, transactionMs: 300_000 } });
  // Whether there are statistics is for the tests to say.
  await database.query('alter table verification set (autovacuum_enabled = off)');
  await fill();
});
after(() => db.drop());

interface Row {
  id: string;
  application: string;
  to: string;
  status: string;
  attempts: number;
  madeMs: number;
  ttlMs: number;
}

/** Index entries are made at once at the end, by the very definitions of the migrations. */
async function fill(): Promise<void> {
  const { rows: indexes } = await database.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'verification' and indexname <> 'verification_pkey'`,
  );
  await database.query('alter table verification set unlogged');
  for (const { name } of indexes) await database.query(`drop index ${name}`);
  for (const rows of [oneNumber(), lapsedOnes(), liveOnes()]) await insert(rows);
  for (const { definition } of indexes) await database.query(definition);
}

/** Over the last 23 hours: half of them blocked, and a few with wrong codes among the oldest. The last is pending. */
function oneNumber(): Row[] {
  return Array.from({ length: ofOneNumber }, (_, n) => ({
    ...at(nowMs - 82_800_000 + n * apartMs.ofOneNumber, n),
    application: 'app_one',
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
    application: 'app_lapsed',
    to: `+4477${String(10_000_000 + n)}`,
    status: 'pending',
    attempts: 0,
    ttlMs: 60_000,
  }));
}

/** Of the same application, older than all of those, and still alive. */
function liveOnes(): Row[] {
  return Array.from({ length: live }, (_, n) => ({
    ...at(nowMs - 595_000 + n, n),
    application: 'app_lapsed',
    to: `+4478${String(10_000_000 + n)}`,
    status: 'pending',
    attempts: 0,
    ttlMs: 600_000,
  }));
}

function at(ms: number, n: number): Pick<Row, 'id' | 'madeMs'> {
  return { id: idFloor('ver', ms).slice(0, -8) + String(n).padStart(8, '0'), madeMs: Math.floor(ms) };
}

async function insert(rows: Row[], on = database): Promise<void> {
  await on.query(
    `insert into verification (id, application_id, channel, recipient, prefix, status, code_length, ring_version,
       test_number, attempts, max_attempts, sends, correlation_id, created_at, updated_at, expires_at)
     select id, application, 'sms', recipient, left(recipient, -4), status, 6, 1, false, attempts, 5, 1, 'req_01',
       made, made, made + ttl * interval '1 millisecond'
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::timestamptz[], $7::float8[])
       as r(id, application, recipient, status, attempts, made, ttl)`,
    [
      rows.map(({ id }) => id),
      rows.map(({ application }) => application),
      rows.map(({ to }) => to),
      rows.map(({ status }) => status),
      rows.map(({ attempts }) => attempts),
      rows.map(({ madeMs }) => toTimestamp(madeMs)),
      rows.map(({ ttlMs }) => ttlMs),
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
          assert.ok(plan);
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
      statistics === 'statistics' ? database.query('vacuum (analyze, index_cleanup on) verification') : undefined,
    );

    const destination = { applicationId: 'app_one', to: number, prefix: number.slice(0, -4) };

    test('what a start looks at: the open one, and no more rows than its limits', async () => {
      const { pages, result } = await costOf((tx) =>
        countStarts(tx, [destination], { perNumber: 10, perPrefix: 50 }, nowMs),
      );
      const { pending, startsForNumber, startsForPrefix, failuresToday } = result[0] ?? assert.fail();
      assert.deepEqual([pending, startsForNumber, startsForPrefix, failuresToday], [true, 10, 50, 12]);
      assert.ok(pages <= 120, `${pages} pages`);
    });

    test('the same where nothing is counted, as in the sandbox', async () => {
      const { pages } = await costOf((tx) => countStarts(tx, [destination], { perNumber: 0, perPrefix: 0 }, nowMs));
      assert.ok(pages <= 40, `${pages} pages`);
    });

    test('what explain looks at', async () => {
      const { pages, result } = await costOf((tx) =>
        countStarts(tx, [destination], { perNumber: 100, perPrefix: 100 }, nowMs),
      );
      assert.deepEqual([result[0]?.startsForNumber, result[0]?.startsForPrefix], [100, 100]);
      assert.ok(pages <= 300, `${pages} pages`);
    });

    test('a number nobody used, in the application of the others', async () => {
      const other = { applicationId: 'app_one', to: '+15005550199', prefix: '+1500555' };
      const { pages } = await costOf((tx) => countStarts(tx, [other], { perNumber: 10, perPrefix: 50 }, nowMs));
      assert.ok(pages <= 40, `${pages} pages`);
    });

    test('to lock the open one of a number, to check a code, to cancel', async () => {
      const locked = await costOf((tx) => lockPending(tx, [destination]));
      assert.equal(locked.result.length, 1);
      assert.ok(locked.pages <= 15, `${locked.pages} pages to lock`);
      const id = locked.result[0]?.id ?? '';
      const check = { id, applicationId: 'app_one', codeLength: 6, rightUnder: [], isTestCode: false };
      const checked = await costOf((tx) => decideChecks(tx, [check], nowMs));
      assert.equal(checked.result[0]?.attempts, 1);
      assert.ok(checked.pages <= 60, `${checked.pages} pages to check`);
      const canceled = await costOf((tx) => cancelPending(tx, 'app_one', id, nowMs));
      assert.equal(canceled.result?.status, 'canceled');
      assert.ok(canceled.pages <= 60, `${canceled.pages} pages to cancel`);
    });

    const page = { limit: 21, after: undefined };
    const lists: [string, VerificationFilter, number][] = [
      ['app_one', {}, 21],
      ['app_one', { to: number }, 21],
      ['app_one', { to: '+15005550199' }, 0],
      ['app_one', { to: number, status: 'pending' }, 1],
      ['app_one', { to: number, status: 'canceled' }, 21],
      ['app_one', { to: number, status: 'failed' }, 0],
      ['app_one', { to: number, status: 'expired' }, 0],
      ['app_one', { status: 'blocked' }, 21],
      ['app_one', { status: 'approved' }, 0],
      ['app_one', { status: 'expired' }, 0],
      ['app_lapsed', { status: 'pending' }, 21],
      ['app_lapsed', { status: 'expired' }, 21],
      ['app_lapsed', { status: 'approved' }, 0],
      ['app_none', { status: 'pending' }, 0],
      ['app_none', { status: 'expired' }, 0],
    ];
    for (const [application, filter, found] of lists) {
      test(`a list of ${application} by ${JSON.stringify(filter)}`, async () => {
        const { pages, result } = await costOf((tx) => listVerifications(tx, application, filter, page, nowMs));
        assert.equal(result.length, found);
        assert.ok(pages <= 120, `${pages} pages`);
      });
    }

    test('the last pages of what is live and of what has lapsed', async () => {
      const ids = async (status: 'pending' | 'expired', after: string) => {
        const { pages, result } = await costOf((tx) =>
          listVerifications(tx, 'app_lapsed', { status }, { limit: 21, after }, nowMs),
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
  const { rows } = await database.query(
    `select from verification where application_id || ' ' || recipient = $1 || ' ' || $2 limit 1`,
    ['app_one', number],
  );
  assert.equal(rows.length, 0);
});

/** What one batch may read, at any size: a few index pages for each of its items. */
const most = { count: 20, lock: 8, insert: 80, check: 50, expire: 80, list: 60 };
const inBatch = 32;
const sizes = [0, 500, 3000, 20_000, 35_000, ...inShort<number[]>([], [70_000, 500_000])];

for (const applications of [1, 16]) {
  describe(`a batch of starts and of checks while ${applications} applications fill the table`, () => {
    let own: TestDatabase;
    let growing: Database;
    let made = 0;
    before(async () => {
      own = await createTestDatabase();
      growing = own.another({ poolSize: 1, timeouts: { statementMs: 300_000, transactionMs: 300_000 } });
      await growing.query('alter table verification set (autovacuum_enabled = off)');
    });
    after(() => own.drop());

    const applicationOf = (n: number) => `app_${n % applications}`;

    /** Pending ones, each of a number and a prefix of its own. */
    async function growTo(size: number): Promise<void> {
      const rows = Array.from({ length: size - made }, (_, n) => ({
        ...at(nowMs - 300_000 + (made + n) / 10, made + n),
        application: applicationOf(made + n),
        to: `+447${String(((made + n) * 7919) % 1e9).padStart(9, '0')}`,
        status: 'pending',
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
      const { rows: open } = await growing.query<{ id: string; applicationId: string }>(
        `select id, application_id as "applicationId" from verification where id >= $1 order by id limit $2`,
        [at(nowMs - 300_000 + Math.max(0, made - inBatch) / 10, 0).id.slice(0, -8), inBatch],
      );
      const checks = open.map((row) => ({ ...row, codeLength: 6, rightUnder: [], isTestCode: false }));
      for (const size of [1, inBatch]) {
        const starts = fresh.slice(0, size);
        await within('count', size, (tx) => countStarts(tx, starts, { perNumber: 10, perPrefix: 50 }, nowMs));
        await within('count', size, (tx) => countStarts(tx, starts, { perNumber: 0, perPrefix: 0 }, nowMs));
        await within('lock', size, (tx) => lockPending(tx, starts));
        await within('insert', size, (tx) => insertStarts(tx, starts.map(toVerification), []));
        await within('check', size, (tx) => decideChecks(tx, checks.slice(0, size), nowMs));
        await within('expire', size, (tx) => expireLapsed(tx, open.slice(0, size), nowMs + 600_000));
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
        if (size > 0) await growing.query('analyze verification');
        if (size > 0) await assertCheap('analyzed');
        await growing.query('vacuum (analyze, index_cleanup on) verification');
        await assertCheap('vacuumed');
      });
    }

    test('as many again, with the statistics of an hour in which nothing was pending', async () => {
      await growing.query(`update verification set status = 'approved'`);
      await growing.query('vacuum (analyze, index_cleanup on) verification');
      await assertCheap('none pending');
      await growTo(made + 30_000);
      await assertCheap('30,000 pending since the last analyze');
    });
  });
}

function toVerification(
  { applicationId, to, prefix }: { applicationId: string; to: string; prefix: string },
  n: number,
): Verification {
  return {
    ...{ id: at(nowMs, n).id, applicationId, to, prefix, channel: 'sms', status: 'pending', reason: null },
    ...{ codeLength: 6, ringVersion: 1, testNumber: false, attempts: 0, maxAttempts: 5, sends: 1, reference: null },
    ...{ correlationId: 'req_01', resendAvailableAtMs: nowMs, createdAtMs: nowMs, updatedAtMs: nowMs },
    ...{ expiresAtMs: nowMs + 600_000, approvedAtMs: null },
  };
}
