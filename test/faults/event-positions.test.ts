// run: with crashes
// A crash of Postgres takes back what was not on disk: positions of events among it. No reader may have passed them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeFirstPartitions } from '../../src/compose/partitioned-tables.ts';
import { insertEvents } from '../../src/events/event-inserts.ts';
import { readEvents } from '../../src/events/event-store.ts';
import { createHorizon } from '../../src/events/horizon.ts';
import { addListener } from '../../src/events/listener-store.ts';
import { lastPosition } from '../../src/events/position.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { livingPostmaster, makeFolder } from '../support/process.ts';

const { log } = createTestLog();
let postgres: EmbeddedPostgres;
let dataFolder: string;
let database: Database;
before(async () => {
  const home = makeFolder('event-positions');
  dataFolder = join(home, 'postgres', 'data');
  postgres = await startEmbeddedPostgres({ folder: join(home, 'postgres'), log });
  const timeouts = { connectMs: 20_000, statementMs: 20_000, transactionMs: 25_000 };
  database = createDatabase({ connection: postgres.connection, log, poolSize: 4, timeouts });
  await migrate(database, systemClock, log);
  await makeFirstPartitions(database, systemClock);
  const admin = createDatabase({ connection: postgres.adminConnection, log, poolSize: 1, timeouts });
  // The log comes to disk by commits alone, so that a crash loses what no commit has brought there.
  await admin.query(`alter system set wal_writer_delay = '10s'`);
  await admin.query(`alter system set bgwriter_lru_maxpages = 0`);
  await admin.query('select pg_reload_conf()');
  await admin.close();
});
after(async () => {
  await database.close();
  await postgres.stop();
});

const write = insertEvents(`(select $1::uuid as application_id, $2::uuid as subject, now() as time, 1 as sequence,
  0 as type, 0 as api, null::smallint as error_code)`);
const newSubject = () => uuidOf(newId('msg', systemClock));

async function crash(): Promise<void> {
  const pid = livingPostmaster(dataFolder) ?? assert.fail('no Postgres runs');
  process.kill(pid, 'SIGKILL');
  const isBack = async () => {
    const now = livingPostmaster(dataFolder);
    if (now === undefined || now === pid) return false;
    const answers = await Promise.allSettled(Array.from({ length: 4 }, () => database.query('select 1')));
    return answers.every(({ status }) => status === 'fulfilled');
  };
  await eventually('Postgres is back', isBack, { withinMs: 60_000, everyMs: 100 });
}

/** A transaction that takes positions and gives up. */
async function takeInVain(applicationId: string, count: number): Promise<void> {
  const work = database.transaction(async (tx) => {
    for (let taken = 0; taken < count; taken++) await tx.query(write, [uuidOf(applicationId), newSubject()]);
    throw new Error('given up');
  });
  await assert.rejects(work, /given up/);
}

async function readAll(applicationId: string, span: { after: number; upTo: number }): Promise<string[]> {
  const { events } = await readEvents(database, { applicationId, ...span }, {}, 1000);
  return events.map(({ subject }) => uuidOf(subject));
}

test('no reader skips an event that gets a position which a crash took back', async (t) => {
  for (let round = 0; round < inShort(1, 10); round++) {
    const applicationId = newId('app', systemClock);
    await addListener(database, applicationId);
    await takeInVain(applicationId, 40);
    const follower = await createHorizon(database).read();
    await takeInVain(applicationId, 40);
    const beginner = await createHorizon(database).reachNow();
    // These are not read.
    await takeInVain(applicationId, 100);
    const taken = await lastPosition(database);
    await crash();
    const lost = taken - (await lastPosition(database));
    const written = Array.from({ length: 150 }, newSubject);
    for (const subject of written) await database.query(write, [uuidOf(applicationId), subject]);
    const upTo = await createHorizon(database).reachNow();
    for (const after of [follower, beginner])
      assert.deepEqual(await readAll(applicationId, { after, upTo }), written, `of a reader behind ${after}`);
    assert.ok(lost > 0, 'the crash took no position back: the test proves nothing');
    t.diagnostic(`the crash took back ${lost} positions`);
  }
});
