// run: with starts
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { advisoryLocks } from '../../src/platform/database/advisory-locks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { tellFigure } from '../support/figures.ts';
import { isRunning, livingPostmaster, makeFolder, processesOn, waitUntilGone } from '../support/process.ts';
import { buildService, endServices, postmasterOf, type Service, startService } from '../support/service.ts';
import { inDatabase } from '../support/service-database.ts';

before(buildService);
after(endServices);

/** The issue promises 3 s, 5 s and 1 s on a machine of its own. What was measured is printed; a busy one is no failure. */
const slackMs = 60_000;

function tellTime(what: string, tookMs: number): void {
  tellFigure(`${what}: ${Math.round(tookMs)} ms`);
  assert.ok(tookMs < slackMs, `${what} took ${tookMs} ms`);
}

function withLock<Result>(db: TestDatabase, lock: number, work: () => Promise<Result>): Promise<Result> {
  const patient = { statementMs: 120_000, transactionMs: 120_000 };
  return db.another({ poolSize: 1, timeouts: patient }).transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lock]);
    return work();
  });
}

/** Waits until the service has begun to wait for a lock a second time; `ending` ends its first session. */
async function waitsTwice(db: TestDatabase, service: Service, lock: number, { ending = false } = {}): Promise<void> {
  const seen = new Set<string>();
  await eventually('it waits for the lock again, or ends', async () => {
    const { rows } = await db.database.query<{ pid: number; since: string }>(waitingForLock, [lock]);
    for (const { pid, since } of rows) {
      if (ending && seen.size === 0) await db.database.query('select pg_terminate_backend($1)', [pid]);
      seen.add(`${pid} ${since}`);
    }
    return seen.size > 1 || service.output().includes('could not start');
  });
}

const waitingForLock = `select a.pid, a.query_start::text as since from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.objid = $1 and not l.granted`;

/** Stops at the signal, with exit code 0, and leaves no process behind. */
async function assertEnds(service: Service, signal: NodeJS.Signals): Promise<void> {
  const postmaster = postmasterOf(service.dataDir);
  service.kill(signal);
  const { code, afterMs } = await service.ended;
  assert.equal(code, 0, `${signal}: code ${code} after ${afterMs} ms\n${service.output()}`);
  assert.ok(postmaster === undefined || (await waitUntilGone(postmaster, 5000)), 'Postgres is still running');
  await assert.rejects(fetch(`${service.url}/healthz`));
}

/** Of a service that must not start: one that does is an error, not a wait without an end. */
function endOf(service: Service): Service['ended'] {
  const started = () => {
    throw new Error(`it is ready:\n${service.output()}`);
  };
  return service.ready.then(started, () => service.ended);
}

/** Nothing is left behind. The exit code is npm's own affair. */
async function assertStopsNpm(service: Service, signal: NodeJS.Signals): Promise<void> {
  await service.ready;
  const postmaster = postmasterOf(service.dataDir) ?? 0;
  assert.ok(isRunning(postmaster), 'Postgres does not run');
  service.kill(signal);
  await service.ended;
  assert.ok(await waitUntilGone(postmaster), 'Postgres is still running');
  await assert.rejects(fetch(`${service.url}/healthz`));
}

const waitingStatements = `
  select pid || ' ' || query_start as statement from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

describe('starting and stopping', { concurrency: 2 }, () => {
  // One after the other on one folder: each goes on with what the one before has left.
  describe('the life of a service', { concurrency: 1 }, () => {
    const dataDir = makeFolder('life');
    let living: Service | undefined;
    /** What the test before has left; a test that failed may have left none, or one that has ended. */
    const running = (): Service => {
      assert.ok(living !== undefined && isRunning(living.pid), 'the test before has left no service that runs');
      return living;
    };

    test('two started at the same moment on an empty folder: exactly one creates the database and is ready', async () => {
      const options = { dataDir, firstStart: true };
      const both = await Promise.all([startService(options), startService(options)]);
      const outcomes = await Promise.allSettled(both.map(({ ready }) => ready));
      const winners = both.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      assert.equal(winners.length, 1, both.map((each) => each.output()).join('\n---\n'));
      const [winner] = winners as [Service];
      const loser = both.find((each) => each !== winner);
      assert.equal((await loser?.ended)?.code, 1);
      assert.match(loser?.output() ?? '', /Another Heliograph is already running/);
      assert.equal((await fetch(`${winner.url}/readyz`)).status, 200);
      assert.match(both.map((each) => each.output()).join(), /is creating the database/);
      assert.match(winner.output(), /is ready \(sandbox\)/);
      tellTime('first start, two at once', await winner.ready);
      living = winner;
    });

    test('after kill -9 the next one adopts the running Postgres, and nothing is lost', async () => {
      const killed = running();
      const postmaster = postmasterOf(dataDir);
      await inDatabase(dataDir, (database) => database.query('create table kept as select 42 as answer'));
      killed.kill('SIGKILL');
      await killed.ended;
      assert.equal(postmasterOf(dataDir), postmaster);

      const service = await startService({ dataDir });
      living = service;
      tellTime('start after kill -9', await service.ready);
      assert.equal(postmasterOf(dataDir), postmaster);
      const { rows } = await inDatabase(dataDir, (database) => database.query('select answer from kept'));
      assert.deepEqual(rows, [{ answer: 42 }]);
    });

    test('another on its data folder refuses, and leaves it and its Postgres alone', async () => {
      const service = running();
      const postmaster = postmasterOf(service.dataDir);
      const second = await startService({ dataDir: service.dataDir });
      const { code } = await endOf(second);
      assert.equal(code, 1);
      assert.match(second.output(), /Another Heliograph is already running on this database/);
      assert.equal(postmasterOf(service.dataDir), postmaster);
      assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    });

    test('a service whose Postgres is killed answers only 503, and is up again by itself', async () => {
      const service = running();
      const killed = postmasterOf(service.dataDir) ?? 0;
      process.kill(killed, 'SIGKILL');
      const seen = new Set<number>();
      let healed = 0;
      for (const untilMs = performance.now() + 60_000; performance.now() < untilMs && healed < 10; ) {
        const { status } = await fetch(`${service.url}/readyz`);
        seen.add(status);
        // It may be back before this test has seen that it was away.
        const isNew = ![undefined, killed].includes(postmasterOf(service.dataDir));
        healed = isNew && status === 200 ? healed + 1 : 0;
        await new Promise((done) => setTimeout(done, 20));
      }
      assert.deepEqual(
        [...seen].filter((status) => status !== 200 && status !== 503),
        [],
      );
      assert.equal(healed, 10);
      assert.equal(livingPostmaster(join(service.dataDir, 'postgres/data')), postmasterOf(service.dataDir));
    });

    test('the service ends when its terminal is closed, although its log is no longer read', async () => {
      const service = running();
      service.closeOutput();
      await assertEnds(service, 'SIGHUP');
    });

    test('a wrong secret ends with a clear message; the previous one re-wraps the ring, and is useless from then on', async () => {
      const old = readFileSync(join(dataDir, 'secret'), 'utf8').trim();
      const next = 'the next secret, long enough';
      const refused = async (env: Record<string, string>) => {
        const service = await startService({ dataDir, env });
        assert.equal((await endOf(service)).code, 1);
        assert.match(service.output(), /HELIOGRAPH_SECRET does not open the key ring/);
        assert.doesNotMatch(service.output(), /at .*\.js|could not be/);
        assert.equal(postmasterOf(dataDir), undefined);
      };
      await refused({ HELIOGRAPH_SECRET: next });
      // As in a container: the signal reaches npm alone, which passes it on.
      const both = { HELIOGRAPH_SECRET: next, HELIOGRAPH_SECRET_PREVIOUS: old };
      const accepted = await startService({ dataDir, env: both, command: ['npm', 'start'] });
      tellTime('second start, by npm', await accepted.ready);
      assert.doesNotMatch(accepted.output(), /creating/);
      await assertStopsNpm(accepted, 'SIGTERM');
      await assertNamesTakenPort({ HELIOGRAPH_SECRET: next });
      await refused({ HELIOGRAPH_SECRET: old });
    });

    /** It opens the ring before it listens, and stops the Postgres that it started. */
    async function assertNamesTakenPort(env: Record<string, string>): Promise<void> {
      const taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      const { port } = taken.address() as { port: number };
      const service = await startService({ dataDir, port, env });
      const { code } = await service.ended;
      taken.close();
      assert.equal(code, 1);
      assert.match(service.output(), new RegExp(`EADDRINUSE.*:${port}`));
      assert.equal(postmasterOf(dataDir), undefined);
    }
  });

  describe('a start that goes wrong', { concurrency: 1 }, () => {
    test('a signal while it creates or starts the database leaves no process behind; the next npm start goes well, and Ctrl-C ends it', async () => {
      const dataDir = makeFolder('early');
      for (const step of ['creating', 'starting']) {
        const service = await startService({ dataDir, firstStart: true });
        await service.printed(`Heliograph is ${step} the database.`);
        service.kill('SIGTERM');
        assert.equal((await service.ended).code, 0);
        assert.doesNotMatch(service.output(), /could not start/);
        // A machine without CPU may take longer to create a database than the service waits for it.
        await eventually('no process is left', () => processesOn(dataDir).length === 0);
      }
      const service = await startService({ dataDir, command: ['npm', 'start'], asTerminal: true });
      await assertStopsNpm(service, 'SIGINT');
    });

    test('a database that is too busy for the statements of a start is asked again', async () => {
      const db = await createTestDatabase();
      const patient = { statementMs: 120_000, transactionMs: 120_000 };
      const service = await db.another({ poolSize: 1, timeouts: patient }).transaction(async (tx) => {
        await tx.query('lock table person');
        const service = await startService({ dataDir: makeFolder('busy'), env: { DATABASE_URL: db.url } });
        const asked = new Set<string>();
        await eventually('it asks twice, or ends', async () => {
          const { rows } = await db.database.query<{ statement: string }>(waitingStatements);
          for (const { statement } of rows) asked.add(statement);
          return asked.size > 1 || service.output().includes('could not start');
        });
        return service;
      });
      await service.ready;
      await assertEnds(service, 'SIGTERM');
      await db.drop();
    });

    test('a start asks again after its session of the migrations was ended, and while signing keys are locked', async () => {
      const db = await createTestDatabase();
      await db.database.query('delete from signing_key');
      const service = await withLock(db, advisoryLocks.signingKeys, async () => {
        const service = await withLock(db, advisoryLocks.migrations, async () => {
          const service = await startService({ dataDir: makeFolder('ended'), env: { DATABASE_URL: db.url } });
          await waitsTwice(db, service, advisoryLocks.migrations, { ending: true });
          return service;
        });
        await waitsTwice(db, service, advisoryLocks.signingKeys);
        return service;
      });
      await service.ready;
      await assertEnds(service, 'SIGTERM');
      await db.drop();
    });

    test('bad configuration lists every bad setting and ends at once', async () => {
      const service = await startService({
        dataDir: makeFolder('bad'),
        env: {
          PORT: 'x',
          HELIOGRAPH_ENV: 'staging',
          HELIOGRAPH_PLANS: '[]',
          HELIOGRAPH_NONSENSE: '1',
          REDIS_URL: 'ftp://x',
        },
      });
      const { code, afterMs } = await endOf(service);
      assert.equal(code, 1);
      tellTime('bad configuration', afterMs);
      for (const name of ['PORT', 'HELIOGRAPH_ENV', 'HELIOGRAPH_PLANS', 'HELIOGRAPH_NONSENSE', 'REDIS_URL']) {
        assert.match(service.output(), new RegExp(`- ${name} `));
      }
      assert.doesNotMatch(service.output(), /at .*\.js/);
    });

    test('a data folder that is a file, or cannot be written, is named', async () => {
      const folder = makeFolder('file');
      writeFileSync(join(folder, 'file'), '');
      const service = await startService({ dataDir: join(folder, 'file') });
      assert.equal((await endOf(service)).code, 1);
      assert.match(service.output(), new RegExp(`could not start\\.\\n.*${folder}/file`));
      assert.doesNotMatch(service.output(), /at .*\.js/);
    });
  });
});
