// A store with many messages is upgraded while it is in use: no caller waits longer than a second for a lock, and an
// upgrade that was interrupted goes on where it stopped. The stores of released versions are upgraded and read the same.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { insertMessages } from '../../src/messages/message-insert-store.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { newId, uuidFloor } from '../../src/platform/ids.ts';
import { createTestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { loadRows, makeReleaseStore, readAnswers, readReleaseStore } from '../support/release-store.ts';

const rows = inShort(12_000, 10_000_000);
/** An advisory lock. */
const gate = 4711;
let db: TestDatabase;
let folder: string;

before(async () => {
  db = await createTestDatabase();
  const patient = db.another({ poolSize: 1, timeouts: { statementMs: 3_600_000, transactionMs: 3_600_000 } });
  await patient.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     select ($1 || lpad(to_hex(n), 12, '0'))::uuid, $2, 0, 0, '+447700900123', 'ACME', 3, 0, 1, 5, 155, $2, now(), now(), now(),
       'sandbox' from generate_series(1, $3::integer) n`,
    [uuidFloor(Date.now() - 86_400_000).slice(0, 24), uuidFloor(Date.now()), rows],
  );
  folder = await mkdtemp(join(tmpdir(), 'heliograph-upgrade-'));
  await cp(fileURLToPath(new URL('../../migrations', import.meta.url)), folder, { recursive: true });
  const { rows: applied } = await db.database.query<{ next: number }>(
    'select max(version) + 1 as next from schema_migration',
  );
  const next = applied[0]?.next ?? 0;
  const files = {
    'add-price': `alter table message add column price integer;
      insert into walk (name, done_before) values ('fill-price', '${uuidFloor(0)}');`,
    // It keeps its place, so that a piece does not read all the rows that were filled before it. All pieces but the first
    // wait for the gate.
    'fill-price': `-- in pieces
      with place as materialized (
        select done_before, case when done_before = '${uuidFloor(0)}' then ''
          else pg_advisory_xact_lock_shared(${gate})::text end as gate
        from walk where name = 'fill-price'),
      piece as materialized (
        select id from message where id >= (select done_before from place) and (select gate from place) = ''
          and id < '${uuidFloor(Date.now())}' and price is null order by id limit 5000),
      kept as (update walk set done_before = (select id from piece order by id desc limit 1)
        where name = 'fill-price' and exists (select from piece))
      update message set price = 7 where id in (select id from piece)`,
    'index-on-parent': 'create index message_price on only message (price);',
    'index-partitions': `-- concurrently, for each partition of message
      create index concurrently if not exists {partition}_price on {partition} (price);`,
    'attach-indexes': `do $$ declare partition regclass; begin
        for partition in select inhrelid from pg_inherits where inhparent = 'message'::regclass loop
          execute format('alter index message_price attach partition %s', partition::text || '_price');
        end loop; end $$;`,
  };
  for (const [place, [name, sql]] of Object.entries(files).entries()) {
    await writeFile(join(folder, `${String(next + place).padStart(4, '0')}-${name}.sql`), sql);
  }
});
after(async () => {
  await db.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Accepts messages all the time, and waits no longer than a second for any lock. Returns how many were accepted. */
function keepAccepting(database: Database): { stop(): Promise<number> } {
  let stopped = false;
  let accepted = 0;
  async function accept(): Promise<void> {
    const session = await database.openSession(() => {});
    await session.query("set lock_timeout = '1s'");
    while (!stopped) {
      await insertMessages(session, [newMessage()]);
      accepted++;
    }
    await session.close();
  }
  const accepting = accept();
  accepting.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await accepting;
      return accepted;
    },
  };
}

function newMessage() {
  const nowMs = systemClock.nowMs();
  return {
    id: newId('msg', systemClock),
    applicationId: newId('app', systemClock),
    api: 'sms' as const,
    verificationId: null,
    channel: 'sms' as const,
    to: '+447700900123',
    sender: 'ACME',
    body: 'Hello',
    template: null,
    status: 'queued' as const,
    encoding: 'GSM-7' as const,
    segmentCount: 1,
    characters: 5,
    remaining: 155,
    reference: null,
    errorCode: null,
    correlationId: newId('req', systemClock),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    sentAtMs: null,
    deliveredAtMs: null,
    possibleDuplicates: 0,
    expiresAtMs: nowMs + 60_000,
    carrier: 'sandbox',
    lane: 'bulk' as const,
    sentAs: null,
    deferredUntilMs: null,
    sendAtMs: null,
  };
}

/** Counting ten million rows takes longer than a service may wait. */
async function filled(): Promise<number> {
  const timeouts = { connectMs: 30_000, statementMs: 300_000, transactionMs: 300_000 };
  const patient = db.another({ poolSize: 1, timeouts });
  const { rows: found } = await patient.query<{ count: number }>('select count(price) as count from message');
  return found[0]?.count ?? 0;
}

/** Reads no further than it must: a count of all rows takes longer than the pieces. */
async function isBegun(): Promise<boolean> {
  const begun = 'select from message where price is not null limit 5000';
  const found = await db.database.query(begun).catch(() => undefined);
  return found?.rows.length === 5000;
}

async function isInterrupted(): Promise<boolean> {
  const { rows: ended } = await db.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like '-- in pieces%' and pid <> pg_backend_pid()`,
  );
  return ended.length > 0;
}

/** Until it is opened the upgrade cannot go on after its first piece. */
async function closeGate(): Promise<{ open(): Promise<void> }> {
  const session = await db.another({ poolSize: 1 }).openSession(() => {}, { patient: true });
  await session.query('select pg_advisory_lock($1)', [gate]);
  return { open: () => session.close() };
}

test('a store in use is upgraded, interrupted and upgraded to the end', async () => {
  const closed = await closeGate();
  const load = keepAccepting(db.another({ poolSize: 1 }));
  const log = createTestLog();
  const run = () => migrate(db.another({ poolSize: 1 }), systemClock, log.log, pathToFileURL(`${folder}/`));
  const first = run();
  const interrupted = assert.rejects(first, /fill-price.sql failed/);
  await eventually('some rows to be filled', isBegun, { withinMs: 600_000 });
  await eventually('the upgrade to be interrupted', isInterrupted);
  await interrupted;
  await closed.open();
  const before = await filled();
  assert.equal(before, 5000);
  await run();
  assert.equal(await filled(), rows);
  const { rows: indexes } = await db.database.query<{ valid: boolean }>(
    "select indisvalid as valid from pg_index where indexrelid = 'message_price'::regclass",
  );
  assert.deepEqual(indexes, [{ valid: true }]);
  assert.ok((await load.stop()) > 0, 'messages were accepted meanwhile, and none waited a second for a lock');
});

test('a migration that would hold a lock for longer is refused, and leaves nothing', async () => {
  const { rows: applied } = await db.database.query<{ next: number }>(
    'select max(version) + 1 as next from schema_migration',
  );
  const name = `${String(applied[0]?.next).padStart(4, '0')}-too-slow.sql`;
  await writeFile(join(folder, name), 'alter table message add column slow integer; select pg_sleep(3);');
  const { log } = createTestLog();
  await assert.rejects(
    migrate(db.another({ poolSize: 1 }), systemClock, log, pathToFileURL(`${folder}/`)),
    /too-slow.sql failed: It took longer than a second with its locks held. Write it in pieces./,
  );
  await rm(join(folder, name));
  const { rows: columns } = await db.database.query(
    "select from information_schema.columns where table_name = 'message' and column_name = 'slow'",
  );
  assert.equal(columns.length, 0);
});

const storesFolder = new URL('stores/', import.meta.url);

test('the store of every release upgrades, reads the same and goes on', async (t) => {
  const made = process.env.HELIOGRAPH_RELEASE_STORE;
  if (made !== undefined) await makeReleaseStore(made, new URL(`${made}.json`, storesFolder));
  const names = await readdir(storesFolder);
  assert.ok(names.includes('0.2.0.json'));
  for (const name of names) await t.test(name, () => upgradeStore(new URL(name, storesFolder)));
});

async function upgradeStore(file: URL): Promise<void> {
  const store = readReleaseStore(file);
  const own = await migrationsOf(store.migrations);
  const old = await createTestDatabase({ empty: true });
  const clock = createTestClock(store.madeAtMs);
  const { log } = createTestLog();
  await migrate(old.database, clock, log, pathToFileURL(`${own}/`));
  const { rows: checksums } = await old.database.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration order by version',
  );
  assert.deepEqual(Object.fromEntries(checksums.map((each) => [each.name, each.checksum])), store.migrations);
  await loadRows(old.database, store);

  await migrate(old.database, clock, log);
  const app = await createTestApp({ db: old, clock, delivery: 'held' });
  const { credentials, pending, answers } = store;
  assert.deepEqual(asBefore(await readAnswers(app, credentials, Object.keys(answers)), answers), answers);
  const headers = bearer(await getToken(app, credentials.client, 'verify:manage'));
  const path = `/verify/v1/verifications/${pending.verification}`;
  const checked = await send(app, 'POST', path, { body: { code: pending.code }, headers });
  assert.equal(checked.body.status, 'approved');
  await app.delivery.workers()[0]?.runUntilIdle();
  const text = await send(app, 'GET', `/sms/v1/messages/${pending.text}`, { headers: { apikey: credentials.apiKey } });
  assert.match(String(text.body.status), /^(?:sent|delivered)$/);
  await app.close();
  await old.drop();
  await rm(own, { recursive: true });
}

/** A folder with the migrations that a release had. */
async function migrationsOf(checksums: Record<string, string>): Promise<string> {
  const own = join(folder, 'of-a-release');
  await mkdir(own);
  for (const name of Object.keys(checksums))
    await cp(fileURLToPath(new URL(`../../migrations/${name}`, import.meta.url)), join(own, name));
  return own;
}

/** Without the fields that answers have got since: additions come in place (section 13 of the contract). */
function asBefore(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((each, index) => asBefore(each, before[index]));
  if (typeof now !== 'object' || typeof before !== 'object' || now === null || before === null) return now;
  const known = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(now).flatMap(([name, value]) => (name in known ? [[name, asBefore(value, known[name])]] : [])),
  );
}
