import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { StartError } from '../../src/platform/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';

let db: TestDatabase;
let path: string;
beforeEach(async () => {
  db = await createTestDatabase({ empty: true });
  path = await mkdtemp(join(tmpdir(), 'heliograph-migrations-'));
});
afterEach(async () => {
  await db.drop();
  await rm(path, { recursive: true, force: true });
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, sql] of Object.entries(files)) await writeFile(join(path, name), sql);
}

function run(database: Database = db.database, log = createTestLog()): Promise<void> {
  return migrate(database, systemClock, log.log, pathToFileURL(`${path}/`));
}

async function applied(): Promise<number[]> {
  const { rows } = await db.database.query<{ version: number }>(
    'select version from schema_migration order by version',
  );
  return rows.map(({ version }) => version);
}

test('nodes that start at the same moment migrate once, and all find the schema', async () => {
  await write({
    '0001-first.sql': 'create table first (id integer); select pg_sleep(0.2); insert into first values (1);',
    '0002-second.sql': 'create table second (id integer);',
  });
  const nodes = Array.from({ length: 5 }, () => db.another({ poolSize: 1 }));
  await Promise.all(nodes.map((node) => run(node)));
  assert.deepEqual(await applied(), [1, 2]);
  assert.equal((await db.database.query('select from first')).count, 1);
});

test('a second run does nothing; a new file is added', async () => {
  await write({ '0001-first.sql': 'create table first (id integer);' });
  await run();
  await run();
  await write({ '0002-second.sql': 'alter table first add column name text;' });
  await run();
  assert.deepEqual(await applied(), [1, 2]);
});

test('a migration may take longer than a request may wait', async () => {
  await write({ '0001-slow.sql': 'select pg_sleep(0.6); create table slow (id integer);' });
  await run(db.another({ timeouts: { statementMs: 300, transactionMs: 300 } }));
  assert.deepEqual(await applied(), [1]);
});

test('a file that was changed after it ran is refused', async () => {
  await write({ '0001-first.sql': 'create table first (id integer);' });
  await run();
  await write({ '0001-first.sql': 'create table first (id bigint);', '0002-second.sql': 'create table second ();' });
  await assert.rejects(
    run(),
    (error) => error instanceof StartError && /0001-first.sql was changed/.test(error.message),
  );
  assert.deepEqual(await applied(), [1]);
});

test('one that fails leaves nothing of itself, keeps those before, and is named', async () => {
  await write({
    '0001-first.sql': 'create table first (id integer);',
    '0002-broken.sql': 'create table second (id integer); insert into first values (1); select 1 / 0;',
    '0003-third.sql': 'create table third (id integer);',
  });
  await assert.rejects(run(), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /0002-broken.sql failed: division by zero/);
    return true;
  });
  assert.deepEqual(await applied(), [1]);
  assert.equal((await db.database.query('select from first')).count, 0);
  await assert.rejects(db.database.query('select from second'), { code: '42P01' });

  await write({ '0002-broken.sql': 'create table second (id integer);' });
  await run();
  assert.deepEqual(await applied(), [1, 2, 3]);
});

test('a database newer than the code is only warned of', async () => {
  await write({ '0001-first.sql': 'create table first ();', '0002-second.sql': 'create table second ();' });
  await run();
  await rm(join(path, '0002-second.sql'));
  const log = createTestLog();
  await run(db.database, log);
  assert.match(log.lines.join(''), /"unknown":\[2\].*newer than this version/);
});

test('a number left out, or a name that is not understood, is refused before anything runs', async () => {
  await write({ '0001-first.sql': 'create table first ();', '0003-third.sql': 'create table third ();' });
  await assert.rejects(run(), /0003-third.sql is out of order: number 2 is missing/);
  await rm(join(path, '0003-third.sql'));
  await write({ '2-second.sql': 'create table second ();' });
  await assert.rejects(run(), /2-second.sql must be named like/);
  await assert.rejects(applied(), { code: '42P01' });
});
