// run: with starts
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { ApiError, StartError } from '../../src/platform/errors.ts';
import { findPostgresBinaries } from '../../src/platform/postgres/binaries.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { asUser, findUnprivileged, type Unprivileged } from '../../src/platform/postgres/unprivileged.ts';
import { createTestLog } from '../support/log.ts';
import { isRunning, livingPostmaster, makeFolder, processesOn, waitUntilGone } from '../support/process.ts';

const { log } = createTestLog();
const started: EmbeddedPostgres[] = [];

/** A folder with a cluster in it, stopped; copying it is quicker than making one. */
let template: string;
before(async () => {
  template = makeFolder('template');
  await (await startEmbeddedPostgres({ folder: template, log })).stop();
});
after(async () => {
  await stopAll(started);
});

/** At once: several that share a folder start its server again while they run. */
async function stopAll(some: EmbeddedPostgres[]): Promise<void> {
  await Promise.all(some.map((postgres) => postgres.stop()));
}

async function start(folder: string, runAs?: Unprivileged): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ folder, log, ...(runAs && { runAs }) });
  started.push(postgres);
  return postgres;
}

function copyOfTemplate(folder = makeFolder('cluster')): string {
  cpSync(template, folder, { recursive: true });
  // Some versions of Node copy folders without their modes, and Postgres refuses a folder that others may read.
  chmodSync(join(folder, 'data'), 0o700);
  return folder;
}

function open(postgres: EmbeddedPostgres, poolSize = 1): Database {
  // A busy machine may need a while to open a connection; that is not what is tested here.
  return createDatabase({ connection: postgres.connection, log, poolSize, timeouts: { connectMs: 30_000 } });
}

async function setting(postgres: EmbeddedPostgres, name: string): Promise<string> {
  const database = open(postgres);
  const { rows } = await database.query<{ value: string }>('select current_setting($1) as value', [name]);
  await database.close();
  return rows[0]?.value ?? '';
}

/** Starts there, answers, and stops without leaving a process. */
async function assertWorksIn(folder: string, runAs?: Unprivileged): Promise<EmbeddedPostgres['connection']> {
  const postgres = await start(folder, runAs);
  assert.equal(await setting(postgres, 'fsync'), 'on');
  const pid = livingPostmaster(join(folder, 'data')) ?? 0;
  assert.ok(isRunning(pid));
  await postgres.stop();
  assert.ok(await waitUntilGone(pid));
  return postgres.connection;
}

describe('wherever the folder is', { concurrency: 2 }, () => {
  const odd = ['spaces, and a comma: жук 蜂', 'it\'s "$HOME" `id` \\ ; & | *'];
  for (const name of odd) {
    test(`one named ${JSON.stringify(name)} works`, async () => {
      await assertWorksIn(copyOfTemplate(join(makeFolder('odd'), name)));
    });
  }

  test('a cluster is made in an odd place that only we may enter; what an interrupted start left is cleared away, unless it is still being made', async () => {
    const locked = join(makeFolder('locked'), 'home');
    mkdirSync(locked, { mode: 0o700 });
    const folder = join(locked, odd.join(' '));
    for (const name of ['data.unfinished-old', 'data.unfinished-new'])
      mkdirSync(join(folder, name), { recursive: true });
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder, 'data.unfinished-old'), longAgo, longAgo);
    await assertWorksIn(folder);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('unfinished')),
      ['data.unfinished-new'],
    );
  });

  test('a path too long for a socket means a free port of loopback, never 5432', async () => {
    const { host, port } = await assertWorksIn(copyOfTemplate(join(makeFolder('long'), 'x'.repeat(100))));
    assert.equal(host, '127.0.0.1');
    assert.notEqual(port, 5432);
  });
});

test('files that come and go while the folder is read do no harm', async () => {
  const folder = makeFolder('busy');
  const files = Array.from({ length: 500 }, (_, i) => join(folder, `${i}`));
  for (const file of files) writeFileSync(file, '');
  const { own } = await findUnprivileged();
  const looking = own(folder);
  await Promise.all([...files].reverse().map((file) => rm(file)));
  await looking;
});

describe('whatever is found in the folder', { concurrency: 2 }, () => {
  test('a server that still runs there is adopted, and two that ask at once get the same one', async () => {
    const folder = makeFolder('both');
    const both = await Promise.all([start(folder), start(folder)]);
    assert.deepEqual(both[0]?.connection, both[1]?.connection);
    assert.ok(both.some(({ adopted }) => !adopted));
    assert.equal(readdirSync(folder).filter((name) => name.includes('unfinished')).length, 0);
    const third = await start(folder);
    assert.ok(third.adopted);
    assert.deepEqual(third.connection, both[0]?.connection);
    await stopAll([...both, third]);
    assert.deepEqual(processesOn(join(folder, 'data')), []);
  });

  test('lock files whose number belongs to another program by now do no harm, nor does that program come to any', async () => {
    const folder = copyOfTemplate();
    const another = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore' });
    const stale = [another.pid, join(folder, 'data'), 1_700_000_000, 5433, folder, '', '  1234567 0', 'ready   '];
    writeFileSync(join(folder, 'data/postmaster.pid'), `${stale.join('\n')}\n`);
    writeFileSync(join(folder, '.s.PGSQL.5433.lock'), `${stale.slice(0, 5).join('\n')}\n`);
    try {
      await assertWorksIn(folder);
      assert.equal(another.exitCode ?? another.signalCode, null);
    } finally {
      another.kill();
    }
  });

  test('a lock file that is empty, holds nonsense or the number of a process that has ended does no harm', async () => {
    const folder = copyOfTemplate();
    for (const content of ['', '4194303\n/elsewhere\n', 'nonsense']) {
      writeFileSync(join(folder, 'data/postmaster.pid'), content);
      await assertWorksIn(folder);
    }
  });

  test('a cluster of another major version is refused', async () => {
    const folder = copyOfTemplate();
    writeFileSync(join(folder, 'data/PG_VERSION'), '9\n');
    await assert.rejects(
      start(folder),
      (error) => error instanceof StartError && /created by Postgres 9/.test(error.message),
    );
  });

  test('a server that cannot start says why, and none is left', async () => {
    const folder = copyOfTemplate();
    writeFileSync(join(folder, 'data/postgresql.conf'), 'shared_buffers = nonsense\n');
    await assert.rejects(start(folder), (error) => error instanceof StartError && /shared_buffers/.test(error.message));
    assert.deepEqual(processesOn(join(folder, 'data')), []);
  });

  test('a password file that is empty is named', async () => {
    const folder = copyOfTemplate();
    writeFileSync(join(folder, 'password'), '');
    await assert.rejects(
      start(folder),
      (error) => error instanceof StartError && /password is empty/.test(error.message),
    );
  });
});

describe('under load', { concurrency: true }, () => {
  /** Writes rows until it is stopped; remembers which were acknowledged, and every error. */
  function createWriters(database: Database) {
    let going = true;
    const acknowledged: number[] = [];
    const errors: unknown[] = [];
    let next = 0;
    const writers = Array.from({ length: 6 }, async () => {
      while (going) {
        const id = next++;
        try {
          await database.transaction((tx) => tx.query('insert into load values ($1)', [id]));
          acknowledged.push(id);
        } catch (error) {
          errors.push(error);
          await new Promise((done) => setTimeout(done, 20));
        }
      }
    });
    return {
      acknowledged,
      errors,
      async stop() {
        going = false;
        await Promise.all(writers);
      },
    };
  }

  async function assertSurvives(
    folder: string,
    disturb: (postgres: EmbeddedPostgres) => Promise<unknown>,
  ): Promise<void> {
    const postgres = await start(folder);
    const database = createDatabase({ connection: postgres.connection, log, poolSize: 4 });
    await database.query('create table load (id integer primary key)');
    const writers = createWriters(database);
    await new Promise((done) => setTimeout(done, 200));
    await disturb(postgres);
    const before = writers.acknowledged.length;
    for (let waitedMs = 0; waitedMs < 60_000 && writers.acknowledged.length < before + 50; waitedMs += 50) {
      await new Promise((done) => setTimeout(done, 50));
    }
    await writers.stop();
    assert.ok(writers.acknowledged.length >= before + 50, 'it did not heal');
    assert.ok(writers.errors.length > 0, 'no caller noticed');
    for (const error of writers.errors) {
      assert.ok(error instanceof ApiError && error.code === 'UNAVAILABLE', String((error as Error).stack));
    }
    // Its connections may be slow to open on a busy machine; what callers met is in `errors`.
    const patient = createDatabase({
      connection: postgres.connection,
      log,
      poolSize: 1,
      timeouts: { connectMs: 20_000 },
    });
    const { rows } = await patient.query<{ id: number }>('select id from load');
    await patient.close();
    const stored = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      writers.acknowledged.filter((id) => !stored.has(id)),
      [],
    );
    await database.close();
  }

  test('a server stopped and started again: 503s only, nothing acknowledged is lost, and it heals', async () => {
    const folder = copyOfTemplate();
    await assertSurvives(folder, async (postgres) => {
      await postgres.stop();
      await start(folder);
    });
  });

  test('a server whose postmaster is killed loses no acknowledged row and is started again by itself', async () => {
    const folder = copyOfTemplate();
    await assertSurvives(folder, async () => {
      const pid = livingPostmaster(join(folder, 'data')) ?? 0;
      process.kill(pid, 'SIGKILL');
      assert.ok(await waitUntilGone(pid));
    });
  });

  test('a server that was killed can be stopped', async () => {
    const folder = copyOfTemplate();
    const postgres = await start(folder);
    process.kill(livingPostmaster(join(folder, 'data')) ?? 0, 'SIGKILL');
    await postgres.stop();
  });

  test('a second stop leaves the server alone that was started there since', async () => {
    const folder = copyOfTemplate();
    const first = await start(folder);
    await first.stop();
    const second = await start(folder);
    const pid = livingPostmaster(join(folder, 'data')) ?? 0;
    await first.stop();
    assert.ok(isRunning(pid), 'it runs');
    await second.stop();
    assert.ok(await waitUntilGone(pid));
  });
});

test('a server that does not finish is ended at once, and nothing committed is lost', async () => {
  const folder = copyOfTemplate();
  const postgres = await startEmbeddedPostgres({ folder, log, finishesWithinSeconds: 1 });
  started.push(postgres);
  const database = createDatabase({ connection: postgres.connection, log, poolSize: 1 });
  await database.query('create table kept as select 1 as value');
  const { rows } = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
  // A process that stands still does not see that it is asked to end.
  process.kill(rows[0]?.pid ?? assert.fail('it has a process'), 'SIGSTOP');
  await postgres.stop();
  assert.equal(livingPostmaster(join(folder, 'data')), undefined);
  await database.close();
  const again = await start(folder);
  const after = createDatabase({ connection: again.connection, log, poolSize: 1 });
  assert.deepEqual((await after.query('select value from kept')).rows, [{ value: 1 }]);
  await after.close();
});

describe('where user namespaces are forbidden', () => {
  const nobody = { name: 'nobody', uid: 65534, gid: 65534 };

  /** Only root can become another user; any other user is unprivileged already. */
  const isRoot = process.getuid?.() === 0;

  test('root runs Postgres as another user, to whom the folder is given, and nothing beyond it', async () => {
    const folder = makeFolder('given');
    const foreign = join(makeFolder('foreign'), 'file');
    writeFileSync(foreign, '');
    symlinkSync(foreign, join(folder, 'link'));
    const runAs = isRoot ? asUser(nobody) : undefined;
    const reachable = await canReachBinaries(runAs);
    const work = assertWorksIn(folder, runAs);
    if (!reachable) return assert.rejects(work, /user nobody cannot get to/);
    await work;
    assert.equal(statSync(join(folder, 'data')).uid, isRoot ? nobody.uid : process.getuid?.());
    assert.equal(statSync(foreign).uid, process.getuid?.());
  });

  test('a folder that this user cannot reach is named, with the way out', async () => {
    const locked = makeFolder('locked');
    mkdirSync(join(locked, 'home'), { mode: 0o700 });
    const work = assertWorksIn(join(locked, 'home', 'postgres'), isRoot ? asUser(nobody) : undefined);
    if (!isRoot) return assert.doesNotReject(work);
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /user nobody cannot get to .*HELIOGRAPH_DATA_DIR/s);
      return true;
    });
  });

  test('a folder that was given away is taken back where namespaces are allowed', async () => {
    const folder = copyOfTemplate();
    if (isRoot) chownAll(folder, nobody.uid, nobody.gid);
    await assertWorksIn(folder);
    assert.equal(statSync(join(folder, 'data')).uid, process.getuid?.());
  });

  async function canReachBinaries(runAs: Unprivileged | undefined): Promise<boolean> {
    if (runAs === undefined) return true;
    const binaries = await findPostgresBinaries(makeFolder('own'));
    return runAs.execute(join(binaries, 'postgres'), ['--version']).then(
      () => true,
      () => false,
    );
  }

  function chownAll(path: string, uid: number, gid: number): void {
    chownSync(path, uid, gid);
    for (const name of readdirSync(path, { recursive: true }).map(String)) chownSync(join(path, name), uid, gid);
  }
});

describe('a server that runs', { concurrency: 1 }, () => {
  const folder = makeFolder('running');
  let postgres: EmbeddedPostgres;
  before(async () => {
    copyOfTemplate(folder);
    process.env.HELIOGRAPH_SECRET = 'a secret that no program may see';
    postgres = await start(folder).finally(() => delete process.env.HELIOGRAPH_SECRET);
  });

  test('a short path means a socket that only we may use, and no port at all', async () => {
    assert.equal(postgres.connection.host, folder);
    assert.equal(await setting(postgres, 'listen_addresses'), '');
    assert.equal(statSync(join(folder, '.s.PGSQL.5433')).mode & 0o777, 0o700);
    assert.equal(await setting(postgres, 'password_encryption'), 'scram-sha-256');
    const stranger = createDatabase({ connection: { ...postgres.connection, password: 'wrong' }, log });
    await assert.rejects(stranger.query('select 1'), { code: '28P01' });
    await stranger.close();
  });

  test('the service is no superuser, and the server inherits no secret', async () => {
    const service = open(postgres);
    const { rows } = await service.query(
      'select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = user',
    );
    assert.deepEqual(rows, [{ rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
    await service.query('create table output (line text)');
    await assert.rejects(service.query("copy output from program 'env'"), { code: '42501' });
    await assert.rejects(service.query("select pg_read_file('/etc/passwd')"), { code: '42501' });
    await service.close();
    const admin = createDatabase({ connection: postgres.adminConnection, log, poolSize: 1 });
    await admin.query('create table output (line text)');
    await admin.query("copy output from program 'env'");
    const { rows: lines } = await admin.query<{ line: string }>('select line from output');
    assert.ok(
      lines.some(({ line }) => line.startsWith('PATH=')),
      'the program has printed its environment',
    );
    assert.deepEqual(
      lines.filter(({ line }) => /^HELIOGRAPH_|a secret/.test(line)),
      [],
    );
    await admin.close();
  });

  test('the log of Postgres holds neither statements nor their values', async () => {
    const database = open(postgres);
    await database.query('create table note (id text primary key, text text check (length(text) > 100))');
    const failing = [
      "select 'a secret text'::integer",
      "insert into note values ('a secret key', repeat('x', 101)), ('a secret key', repeat('x', 101))",
      "insert into note values ('a secret key', 'a secret text')",
      "select * from nowhere where id = 'a secret key'",
    ];
    for (const statement of failing) await assert.rejects(database.query(statement));
    await database.close();
    await postgres.stop();
    assert.doesNotMatch(readFileSync(join(folder, 'log'), 'utf8'), /secret/);
  });
});
