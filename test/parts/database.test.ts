import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import type { Database } from '../../src/platform/database/database.ts';
import { isConnectionLoss, sqlStateOf } from '../../src/platform/database/errors.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { urlOf } from '../support/node-settings.ts';

let db: TestDatabase;
/** One connection, so that what one caller does to it the next one sees. */
let single: Database;

before(async () => {
  db = await createTestDatabase({ empty: true });
  await db.database.query('create table note (id text primary key)');
  single = db.another({ poolSize: 1 });
});
after(() => db.drop());

async function backend(database: Database): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

test('times come back as milliseconds and int8 as numbers, also in lists', async () => {
  const { rows } = await db.database.query<Record<string, unknown>>(
    `select timestamptz '2026-01-02 03:04:05.678901+02' as time, timestamptz '1969-12-31 23:59:59.5+00' as early,
       array[timestamptz '2026-01-02 03:04:05Z', null] as times, 9007199254740991::int8 as big,
       array[1::int8, null] as bigs, null::timestamptz as none, count(*) as count from generate_series(1, 3)`,
  );
  assert.deepEqual(rows[0], {
    time: Date.parse('2026-01-02T01:04:05.678Z'),
    early: -500,
    times: [Date.parse('2026-01-02T03:04:05Z'), null],
    big: Number.MAX_SAFE_INTEGER,
    bigs: [1, null],
    none: null,
    count: 3,
  });
});

test('no setting of the server, the database or the address changes how times are read', async () => {
  const { host, port, user, password, database: name } = db.connection;
  await db.database.query(`alter database ${name} set timezone to 'Asia/Kolkata'`);
  await db.database.query(`alter database ${name} set datestyle to 'German'`);
  const query = new URLSearchParams({ host, port: String(port), user, password, options: '-c work_mem=7MB' });
  const pool = db.another({ connection: { url: `postgres:///${name}?${query}` } });
  const { rows } = await pool.query(
    "select timestamptz '2026-01-02 03:04:05Z' as time, current_setting('work_mem') mem",
  );
  assert.deepEqual(rows[0], { time: Date.parse('2026-01-02T03:04:05Z'), mem: '7MB' });
});

test('an address cannot rename our connections: what waits for our transactions knows them by their name', async () => {
  const url = `${urlOf(db.connection)}&application_name=another`;
  const renamed = db.another({ connection: { url }, poolSize: 1 });
  const { rows } = await renamed.query<{ name: string }>(
    'select application_name as name from pg_stat_activity where pid = pg_backend_pid()',
  );
  assert.equal(rows[0]?.name, 'heliograph');
});

test('Postgres compiles no statement of ours, whatever the database is set to', async () => {
  await db.database.query(`alter database ${db.connection.database} set jit to 'on'`);
  const pool = db.another({ connection: { url: urlOf(db.connection) } });
  assert.deepEqual((await pool.query('show jit')).rows, [{ jit: 'off' }]);
});

test('times of every precision, and arrays of uuids', async () => {
  const fractions = ['', '.1', '.12', '.123', '.1234', '.123456', '.001', '.000001', '.999999'];
  const texts = fractions.map((fraction) => `2024-02-29 23:59:59${fraction}+00`);
  const { rows } = await db.database.query<{ time: number }>('select unnest($1::timestamptz[]) as time', [texts]);
  assert.deepEqual(
    rows.map(({ time }) => time),
    fractions.map((fraction) => Date.parse(`2024-02-29T23:59:59${fraction.padEnd(4, '0').replace(/^0/, '.')}Z`)),
  );
  const uuid = '01a1e266-3658-0001-2d2e-c58b555db7e2';
  const { rows: arrays } = await db.database.query<{ none: string[]; two: string[] }>(
    `select '{}'::uuid[] as none, array[$1, $1]::uuid[] as two`,
    [uuid],
  );
  assert.deepEqual(arrays, [{ none: [], two: [uuid, uuid] }]);
});

test('a time that cannot be milliseconds is an error, never a wrong number', async () => {
  await assert.rejects(db.database.query("select timestamptz 'infinity' as time"), /wrote a time as infinity/);
});

test('PGSSLMODE, set for other databases of the developer, does not concern our own server', async () => {
  process.env.PGSSLMODE = 'require';
  try {
    await db.another().query('select 1');
  } finally {
    delete process.env.PGSSLMODE;
  }
});

test('an ApiError thrown inside a transaction rolls it back, comes out as it is and keeps the connection', async () => {
  const before = await backend(single);
  const refusal = new ApiError('ALREADY_EXISTS', 'There is one already.');
  const work = single.transaction(async (tx) => {
    await tx.query("insert into note values ('refused')");
    throw refusal;
  });
  await assert.rejects(work, (error) => error === refusal);
  assert.equal((await single.query("select from note where id = 'refused'")).count, 0);
  assert.equal(await backend(single), before);
});

test('a violated constraint comes out with its SQLSTATE and keeps the connection', async () => {
  const before = await backend(single);
  const twice = single.transaction((tx) => tx.query("insert into note values ('twice'), ('twice')"));
  await assert.rejects(twice, (error) => sqlStateOf(error) === '23505' && !(error instanceof ApiError));
  assert.equal(await backend(single), before);
});

test('a transaction in which an error was swallowed is not taken for committed', async () => {
  const work = single.transaction(async (tx) => {
    await tx.query("insert into note values ('swallowed')");
    await tx.query('select 1 / 0').catch(() => {});
    return 'done';
  });
  await assert.rejects(work, /rolled back/);
  assert.equal((await single.query("select from note where id = 'swallowed'")).count, 0);
});

test('when the connection breaks under a refusal, the caller still gets the refusal', async () => {
  const work = single.transaction(async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    await db.database.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await new Promise((done) => setTimeout(done, 50));
    throw new ApiError('NOT_FOUND', 'Not found. Check the path and the id.');
  });
  await assert.rejects(work, (error) => error instanceof ApiError && error.code === 'NOT_FOUND');
  assert.ok((await backend(single)) > 0);
});

test('two transactions in each other\u2019s way: one commits, the other is a 503 that may be tried again', async () => {
  await db.database.query("insert into note values ('left'), ('right')");
  let holding = 0;
  let allHold = () => {};
  const bothHold = new Promise<void>((resolve) => {
    allHold = resolve;
  });
  const touch = (first: string, second: string) =>
    db.database.transaction(async (tx) => {
      await tx.query('select from note where id = $1 for update', [first]);
      holding += 1;
      if (holding === 2) allHold();
      await bothHold;
      await tx.query('select from note where id = $1 for update', [second]);
    });
  const outcomes = await Promise.allSettled([touch('left', 'right'), touch('right', 'left')]);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.equal(refused.length, 1);
  assert.ok(refused[0] instanceof ApiError && refused[0].code === 'UNAVAILABLE');
  assert.equal(sqlStateOf(refused[0]), '40P01');
});

test('every way in which a connection breaks is known as one; a broken pipe is not an SQLSTATE', () => {
  for (const code of ['EPIPE', 'ECONNRESET', 'ENOENT', '57P01', '08006', '25P03']) {
    assert.ok(isConnectionLoss(Object.assign(new Error(code), { code })), code);
  }
  assert.equal(sqlStateOf(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })), undefined);
  assert.ok(!isConnectionLoss(Object.assign(new Error('duplicate'), { code: '23505' })));
  assert.ok(!isConnectionLoss(new TypeError('a bug of ours')));
});

test('timeouts may be set as short as a test likes', async () => {
  const hasty = db.another({ timeouts: { statementMs: 200, connectMs: 5000 } });
  await assert.rejects(hasty.query('select pg_sleep(5)'), (error) => sqlStateOf(error) === '57014');
});

/** The parameters of the first message that a client sends (Postgres documentation, "StartupMessage"). */
async function startupParameters(): Promise<Record<string, string>> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const received = new Promise<Buffer>((resolve) => {
    server.once('connection', (socket) => {
      socket.once('data', (bytes) => {
        socket.destroy();
        resolve(bytes);
      });
    });
  });
  const pool = db.another({ connection: { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' } });
  await assert.rejects(pool.query('select 1'));
  const words = (await received).subarray(8).toString('utf8').split('\0');
  server.close();
  const pairs: [string, string][] = [];
  for (let i = 0; words[i]; i += 2) pairs.push([words[i] ?? '', words[i + 1] ?? '']);
  return Object.fromEntries(pairs);
}

test('PgBouncer takes our connections: the start-up message has no parameter that it refuses', async () => {
  const { user, database, application_name, client_encoding, ...others } = await startupParameters();
  assert.deepEqual([user, database, application_name], ['u', 'd', 'heliograph']);
  assert.deepEqual(others, {}, 'everything else is set after connecting');
});

test('every connection has its limits: of statements, of locks and of standing still in a transaction', async () => {
  const pool = db.another({ timeouts: { statementMs: 1234, transactionMs: 4321 } });
  const { rows } = await pool.query(`select current_setting('statement_timeout') as statement,
    current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`);
  assert.deepEqual(rows[0], { statement: '1234ms', lock: '734ms', idle: '6321ms' });
});
