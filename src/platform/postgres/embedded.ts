import { mkdir, open, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readOrMakePrivateFile } from '../crypto/private-file.ts';
import { randomBase62 } from '../crypto/random.ts';
import { createDatabase } from '../database/database.ts';
import { StartError } from '../errors.ts';
import type { Log } from '../log.ts';
import { findPostgresBinaries } from './binaries.ts';
import {
  adminUser,
  type Cluster,
  isAlive,
  outputOf,
  type PostgresConnection,
  prepareCluster,
  writeServerSettings,
} from './cluster.ts';
import { findPostmaster } from './postmaster.ts';
import { ensureServiceRole } from './role.ts';
import { findUnprivileged, type Unprivileged } from './unprivileged.ts';

export interface EmbeddedPostgres {
  /** The service's role: it owns its database and is not a superuser. */
  connection: PostgresConnection;
  /** The superuser, for tests and benchmarks that create their own databases. */
  adminConnection: PostgresConnection;
  /** True when a server was already running on the folder, for example after a `kill -9` of the service. */
  adopted: boolean;
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** A dedicated folder: it holds the cluster, its log, its socket and its passwords. */
  folder: string;
  log: Log;
  /** Called before each slow step. */
  onProgress?: (step: string) => void;
  /** How to run Postgres, which refuses root. Detected by default. */
  runAs?: Unprivileged;
  /** How many connections it allows, when it is started. A node takes up to 35, and several may share this server. */
  connections?: number;
  /** How long it may take to finish what it does when it is stopped; 30 unless a test says otherwise. */
  finishesWithinSeconds?: number;
}

interface Server extends Cluster {
  adminPassword: string;
  finishesWithinSeconds: number;
  log: Log;
}

const pollEveryMs = 25;
/** Longer than any crash recovery we expect. Past it, recovery continues and the next start adopts the server. */
const readyWithinMs = 120_000;
const answersWithinMs = 30_000;
const watchEveryMs = 1000;
/** Every 30th check also reads the pid file: another program may have got the pid. */
const fullCheckEvery = 30;
/** By then a node that did not get the node lock has exited, and does not watch a server that is not its own. */
const watchAfterMs = 4000;

/**
 * Starts Postgres on the folder, or adopts the one running there, and restarts it if it dies. It runs in its own
 * session: Ctrl-C reaches only the service, which can still commit what is in flight.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, log, onProgress = () => {}, connections = 400, finishesWithinSeconds = 30 } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const home = await realpath(folder);
  const [binaries, runAs] = await Promise.all([findPostgresBinaries(home), options.runAs ?? findUnprivileged()]);
  const makePassword = () => randomBase62(43);
  const password = await readOrMakePrivateFile(join(home, 'password'), makePassword);
  const adminPassword = await readOrMakePrivateFile(join(home, 'admin-password'), makePassword);
  const dataFolder = join(home, 'data');
  const cluster = { home, dataFolder, binaries, runAs, connections };
  const server: Server = { ...cluster, adminPassword, finishesWithinSeconds, log };
  await prepareCluster(server, adminPassword, () => onProgress('creating the database'));

  const { adminConnection, adopted } = await startOrAdopt(server, onProgress);
  const connection = await ensureServiceRole(adminConnection, password, log);
  return { connection, adminConnection, adopted, stop: keepRunning(server) };
}

interface Running {
  adminConnection: PostgresConnection;
  adopted: boolean;
}

async function startOrAdopt(server: Server, onProgress: (step: string) => void): Promise<Running> {
  const running = await findRunning(server, () => false);
  if (running !== undefined) return { adminConnection: running, adopted: true };
  onProgress('starting the database');
  await writeServerSettings(server);
  return launch(server);
}

/** Waits for the server on the folder to answer. Undefined when none is running or starting. */
async function findRunning(server: Server, isStarting: () => boolean): Promise<PostgresConnection | undefined> {
  const startedMs = performance.now();
  let readySinceMs: number | undefined;
  let emptySinceMs: number | undefined;
  for (;;) {
    const starting = isStarting();
    const found = await findPostmaster(server.dataFolder);
    const nowMs = performance.now();
    if (found === 'empty') {
      emptySinceMs ??= nowMs;
      // Postgres refuses to start beside an empty `postmaster.pid`, and does not remove it.
      if (nowMs - emptySinceMs > 2000) await rm(join(server.dataFolder, 'postmaster.pid'), { force: true });
    } else if (found?.is === 'ours') {
      const { host, port } = found;
      const connection = { host, port, user: adminUser, password: server.adminPassword, database: 'postgres' };
      if (found.ready && (await answers(server, connection))) return connection;
      readySinceMs = found.ready ? (readySinceMs ?? nowMs) : undefined;
      if (nowMs - (readySinceMs ?? nowMs) > answersWithinMs || nowMs - startedMs > readyWithinMs) {
        throw new StartError(
          `A Postgres (process ${found.pid}) is running on ${server.dataFolder}, but does not answer.\n` +
            `Stop it (kill ${found.pid}) and start again.`,
        );
      }
    } else if (!starting) {
      return undefined;
    }
    await pause(pollEveryMs);
  }
}

async function answers(server: Server, connection: PostgresConnection): Promise<boolean> {
  const probe = createDatabase({ connection, log: server.log, poolSize: 1 });
  try {
    const { rows } = await probe.query<{ folder: string }>("select current_setting('data_directory') as folder");
    return rows[0]?.folder === server.dataFolder;
  } catch {
    return false;
  } finally {
    await probe.close();
  }
}

/**
 * Runs `postgres`, not `pg_ctl`, which puts folder names into a shell command. Postgres cleans up its stale files and
 * refuses to start while processes of a killed server still hold its shared memory.
 */
async function launch(server: Server): Promise<Running> {
  for (let tries = 1; ; tries++) {
    const logFile = join(server.home, 'log');
    const output = await open(logFile, 'a', 0o600);
    const { size } = await output.stat();
    await server.runAs.own(server.home);
    const postgres = server.runAs.start(join(server.binaries, 'postgres'), ['-D', server.dataFolder], {
      output: output.fd,
      env: await staleFilesEnvironment(server),
    });
    let failure: Error | undefined;
    postgres.once('error', (error) => {
      failure = error;
    });
    postgres.once('exit', (code, signal) => {
      failure ??= new Error(`it ended at once (${signal ?? code})`);
    });
    postgres.unref();
    await output.close();

    // If two nodes start Postgres at once, one fails and adopts the other's. The node lock then decides between them.
    const adminConnection = await findRunning(server, () => failure === undefined);
    if (adminConnection !== undefined) return { adminConnection, adopted: failure !== undefined };
    const said = (await readFile(logFile)).subarray(size).toString('utf8').trim();
    if (!said.includes('shared memory block') || tries >= 40) {
      throw new StartError(`The embedded Postgres did not start: ${outputOf(failure)}\n${said.slice(-2000)}`);
    }
    await pause(250);
  }
}

/**
 * After a reboot another program may have the pid in a stale lock file, and Postgres would take it for a server.
 * Postgres ignores the pid if we name it as its grandparent.
 */
async function staleFilesEnvironment({ dataFolder }: Server): Promise<Record<string, string>> {
  const found = await findPostmaster(dataFolder);
  return typeof found === 'object' && found.is === 'another' ? { PG_GRANDPARENT_PID: String(found.pid) } : {};
}

/** Restarts the server when it dies. The returned function stops watching and stops the server. */
function keepRunning(server: Server): () => Promise<void> {
  let stopping = false;
  let mending = Promise.resolve();
  let waitMs = watchAfterMs;
  let timer: NodeJS.Timeout;
  let pid: number | undefined;
  let checks = 0;

  async function mend(): Promise<void> {
    if (pid !== undefined && isAlive(pid) && ++checks % fullCheckEvery !== 0) return;
    const found = await findPostmaster(server.dataFolder);
    pid = typeof found === 'object' && found.is === 'ours' ? found.pid : undefined;
    if (stopping || pid !== undefined) {
      waitMs = watchEveryMs;
      return;
    }
    server.log.error('the embedded Postgres stopped unexpectedly; restarting it');
    await launch(server).catch((error: Error) =>
      server.log.error({ reason: error.message }, 'the embedded Postgres did not restart'),
    );
    waitMs = Math.min(waitMs * 2, 30_000);
  }

  function watch(): void {
    timer = setTimeout(() => {
      mending = mend().finally(() => {
        if (!stopping) watch();
      });
    }, waitMs);
    timer.unref();
  }
  watch();

  async function stop(): Promise<void> {
    stopping = true;
    clearTimeout(timer);
    await mending;
    await stopServer(server);
  }
  // Stop only once: a server started there later belongs to another process.
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

async function stopServer(server: Server): Promise<void> {
  await stopBy(server, 'fast', server.finishesWithinSeconds).catch(async (error: unknown) => {
    // A server that is already gone counts as stopped.
    const found = await findPostmaster(server.dataFolder);
    if (typeof found !== 'object' || found.is !== 'ours') return;
    server.log.warn({ reason: (error as Error).message }, 'the embedded Postgres does not stop; ending it at once');
    // Nothing committed is lost: the next start recovers from its log.
    await stopBy(server, 'immediate', 30);
  });
}

async function stopBy({ runAs, binaries, dataFolder }: Server, mode: string, withinSeconds: number): Promise<void> {
  const args = ['stop', '-w', '-t', String(withinSeconds), '-m', mode, '-s', '-D', dataFolder];
  await runAs.execute(join(binaries, 'pg_ctl'), args);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
