// run: on web processes
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/platform/clock.ts';
import { createDirectory } from '../../src/registry/directory.ts';
import { createKeyLookup } from '../../src/registry/key-lookup.ts';
import { createRegistry, type Registry } from '../../src/registry/registry.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';

const total = inShort(20_000, 1_000_000);
const used = inShort(500, 2000);
let db: TestDatabase;
let registry: Registry;
const patient = { connectMs: 10_000, statementMs: 120_000, transactionMs: 120_000 };
before(async () => {
  db = await createTestDatabase();
  const { database } = db;
  const keys = await openTestKeyRing(database, systemClock);
  const config = readConfig({});
  registry = createRegistry({ database, clock: systemClock, keys, log: createTestLog().log, config, listen: false });
  await registry.feed.start();
  const filler = db.another({ timeouts: patient, poolSize: 1 });
  await filler.query("insert into account (id, name, created_at) values ('acc_many', 'many@example.com', now())");
  await filler.query(
    "insert into application select 'app_' || n, 'acc_many', 'App', now(), now() from generate_series(1, 1000) n",
  );
  // The index the lookup goes by is made afterwards, which is many times faster; the others are not needed here.
  await filler.query(
    'alter table api_key drop constraint api_key_hash_key, drop constraint api_key_application_id_fkey',
  );
  await filler.query('drop index api_key_application');
  await filler.query(
    `insert into api_key (id, application_id, hash, prefix, last_four, created_at)
     select 'key_' || n, 'app_' || (1 + n % 1000), sha256(n::text::bytea), 'hg_sandbox_', 'xxxx', now()
     from generate_series(1, $1::integer) n`,
    [total],
  );
  await filler.query('alter table api_key add constraint api_key_hash_key unique (hash)');
  await filler.query('analyze api_key');
});
after(async () => {
  await registry.feed.stop();
  await db.drop();
});

test(`${total.toLocaleString('en')} keys: a lookup reads the index and a handful of pages, not the table`, async () => {
  const { rows } = await db.database.query<{ 'QUERY PLAN': { Plan: object }[] }>(
    `explain (analyze, buffers, format json) select k.id from api_key k join application a on a.id = k.application_id
     where k.hash = any(array[sha256('99999'::bytea)])`,
  );
  const plan = JSON.stringify(rows[0]);
  assert.match(plan, /"Index Scan"/);
  assert.ok(!plan.includes('"Seq Scan"'), plan);
  const buffers = /"Shared Hit Blocks":(\d+),"Shared Read Blocks":(\d+)/.exec(plan);
  assert.ok(Number(buffers?.[1]) + Number(buffers?.[2]) < 20, plan);
  const executionMs = /"Execution Time":([\d.]+)/.exec(plan)?.[1];
  process.stdout.write(`one lookup among ${total} keys, in the database: ${executionMs} ms\n`);
});

test(`what is remembered of ${used.toLocaleString('en')} keys stays within its bound`, async () => {
  const limit = used / 4;
  const { feed } = registry;
  const directory = createDirectory({
    database: db.database,
    plans: readConfig({}).plans,
    config: { environment: 'production', senders: 'approved' },
    feed: () => feed,
    most: limit,
  });
  const keyLookup = createKeyLookup({
    // Keys are found by their hash: here the hash of a number stands for a key.
    apiKeys: { ...registry.apiKeys, hashes: (key) => [Buffer.from(key, 'hex')] },
    directory,
    feed,
    clock: systemClock,
    lastUsed: { note: () => {} },
    most: limit,
  });
  let found = 0;
  const { rows } = await db.database.query<{ hash: Buffer }>('select hash from api_key limit $1', [used]);
  const began = performance.now();
  for (const { hash } of rows) {
    await keyLookup.lookUp(hash.toString('hex'));
    if (keyLookup.wasKnown(hash.toString('hex'))) found++;
  }
  const each = (performance.now() - began) / rows.length;
  assert.equal(found, rows.length);
  assert.ok(directory.size <= limit, `${directory.size} applications`);
  assert.ok(keyLookup.size <= limit, `${keyLookup.size} keys`);
  process.stdout.write(`one lookup among ${total} keys: ${each.toFixed(2)} ms\n`);
});
