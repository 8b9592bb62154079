import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { findPostgresBinaries } from '../../src/platform/postgres/binaries.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { serviceRole } from '../../src/platform/postgres/role.ts';
import { findUnprivileged } from '../../src/platform/postgres/unprivileged.ts';
import { copyMigratedPostgres } from './data-folder.ts';
import { eventually } from './eventually.ts';
import { createTestLog } from './log.ts';
import { freePort, isRunning, makeFolder } from './process.ts';

/** One of two servers. Both hold the same cluster: one takes writes, the other follows it. */
export interface PairServer {
  name: string;
  port: number;
  /** `127.0.0.1:port`, as a `DATABASE_URL` names it. */
  address: string;
  /** The superuser's, by this server alone. */
  admin: Database;
  /** Stops every process of the server where it is. */
  freeze(): void;
  /** They go on, and know nothing of the time between. */
  thaw(): void;
  kill(): Promise<void>;
}

export interface PostgresPair {
  first: PairServer;
  second: PairServer;
  /** For these hosts, both by default. */
  urlOf(servers?: PairServer[], options?: string): string;
  /** Whether commits of the first server wait for the second. */
  setSynchronous(isSynchronous: boolean): Promise<void>;
  promote(server: PairServer): Promise<void>;
  close(): Promise<void>;
}

const { log } = createTestLog();
const timeouts = { connectMs: 20_000, statementMs: 30_000, transactionMs: 30_000 };

/** A primary with a streaming standby, of the embedded binaries: the second begins as a copy of the first's files. */
export async function startPair(): Promise<PostgresPair> {
  const folder = makeFolder('pair');
  const home = join(folder, 'a');
  if (!copyMigratedPostgres(home)) await createMigrated(home);
  execFileSync('cp', ['-a', home, join(folder, 'b')]);
  const password = readFileSync(join(home, 'password'), 'utf8').trim();
  const first = await startServer('a', home);
  const standby = `host=127.0.0.1 port=${first.port} user=postgres application_name=b`;
  const second = await startServer('b', join(folder, 'b'), standby);
  const pair: PostgresPair = {
    first,
    second,
    urlOf: (servers = [first, second], options = '') =>
      `postgres://${serviceRole}:${password}@${servers.map(({ address }) => address).join(',')}/${serviceRole}${options}`,
    async setSynchronous(isSynchronous) {
      await first.admin.query(`alter system set synchronous_standby_names = '${isSynchronous ? 'b' : ''}'`);
      await first.admin.query('select pg_reload_conf()');
      await eventually('the setting is known', async () => {
        const { rows } = await first.admin.query<{ names: string }>(
          "select current_setting('synchronous_standby_names') as names",
        );
        return (rows[0]?.names !== '') === isSynchronous;
      });
    },
    async promote(server) {
      await server.admin.query('select pg_promote(true, 30)');
    },
    async close() {
      await Promise.all([first, second].map((server) => server.kill()));
    },
  };
  await eventually('the standby follows', async () => {
    const { rows } = await first.admin.query("select 1 from pg_stat_replication where state = 'streaming'");
    return rows.length === 1;
  });
  await pair.setSynchronous(true);
  return pair;
}

async function createMigrated(home: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ folder: home, log });
  const database = createDatabase({ connection: postgres.connection, log, poolSize: 2, timeouts });
  await migrate(database, systemClock, log);
  await database.close();
  await postgres.stop();
}

async function startServer(name: string, home: string, follows?: string): Promise<PairServer> {
  const data = join(home, 'data');
  const port = await freePort();
  const [binaries, runAs] = await Promise.all([findPostgresBinaries(home), findUnprivileged()]);
  const hba = join(data, 'pg_hba.conf');
  writeFileSync(hba, `host replication,all postgres 127.0.0.1/32 trust\n${readFileSync(hba, 'utf8')}`);
  if (follows !== undefined) {
    appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${follows}'\n`);
    writeFileSync(join(data, 'standby.signal'), '');
    await runAs.own(home);
  }
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
    fsync: 'off',
    hot_standby: 'on',
    wal_receiver_status_interval: '1s',
    wal_retrieve_retry_interval: '200ms',
  };
  const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const output = openSync(join(home, 'output'), 'a');
  const child = runAs.start(join(binaries, 'postgres'), ['-D', data, ...args], { output, env: {} });
  const connection = { host: '127.0.0.1', port, user: 'postgres', password: '', database: 'postgres' };
  const admin = createDatabase({ connection, log, poolSize: 2, timeouts });
  await eventually(`server ${name} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`server ${name} ended: ${readFileSync(join(home, 'output'), 'utf8')}`);
    return admin.query('select 1').then(
      () => true,
      () => false,
    );
  });
  return {
    name,
    port,
    address: `127.0.0.1:${port}`,
    admin,
    freeze: () => signalAll(child, 'SIGSTOP'),
    thaw: () => signalAll(child, 'SIGCONT'),
    async kill() {
      void admin.close().catch(() => {});
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      const all = [child.pid ?? 0, ...childrenOf(child.pid ?? 0)];
      for (const pid of all) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      await gone;
    },
  };
}

/** The postmaster first, so that it starts no other process meanwhile. */
function signalAll({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  process.kill(pid, signal);
  for (const child of childrenOf(pid)) {
    try {
      process.kill(child, signal);
    } catch {
      // A backend may end by itself meanwhile.
    }
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === String(parent))
    .map(Number);
}

function parentOf(pid: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined;
  }
}
