import assert from 'node:assert/strict';
import { join } from 'node:path';
import { atEnd } from '../../scripts/shared-by-files.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { provideMigratedPostgres } from './data-folder.ts';
import { inShort } from './effort.ts';
import { eventually } from './eventually.ts';
import { createTestLog } from './log.ts';
import { livingPostmaster, makeFolder } from './process.ts';
import { buildService } from './service.ts';

/** Nodes and a Postgres of their own, which a test may kill. */
export interface MortalCluster {
  database: Database;
  cluster: Cluster;
  /** It is started again by itself, and recovers. */
  killPostgres(): Promise<void>;
}

/** A second application's callers must not meet a limit, nor tokens that end. */
const env = {
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
  HELIOGRAPH_GUARD: '{"per_prefix":1000000}',
  HELIOGRAPH_TOKEN_SECONDS: '86400',
  LOG_LEVEL: 'error',
};

let shared: Promise<MortalCluster> | undefined;

/** In short all files of a process share two nodes: one that is killed, and one that goes on. */
export function shareMortalCluster(longRoles: NonNullable<ClusterOptions['roles']>): Promise<MortalCluster> {
  shared ??= start(inShort(['all', 'all'], longRoles));
  return shared;
}

async function start(roles: NonNullable<ClusterOptions['roles']>): Promise<MortalCluster> {
  await buildService();
  const { log } = createTestLog();
  const home = makeFolder('mortal');
  provideMigratedPostgres(home);
  const folder = join(home, 'postgres');
  const postgres = await startEmbeddedPostgres({ folder, log });
  atEnd(() => postgres.stop());
  const timeouts = { connectMs: 20_000, statementMs: 60_000, transactionMs: 60_000 };
  const database = createDatabase({ connection: postgres.connection, log, poolSize: 2, timeouts });
  atEnd(() => database.close());
  const cluster = await startCluster({ connection: postgres.connection, roles, env });
  atEnd(() => cluster.close());
  return { database, cluster, killPostgres: () => killPostgres(join(folder, 'data'), database) };
}

async function killPostgres(dataFolder: string, database: Database): Promise<void> {
  const pid = livingPostmaster(dataFolder);
  assert.ok(pid !== undefined, 'no Postgres runs');
  process.kill(pid, 'SIGKILL');
  // What the old one had forked answers for a moment more.
  const isBack = async () => {
    const now = livingPostmaster(dataFolder);
    if (now === undefined || now === pid) return false;
    const answers = await Promise.allSettled([database.query('select 1'), database.query('select 1')]);
    return answers.every(({ status }) => status === 'fulfilled');
  };
  await eventually('Postgres is back', isBack, { withinMs: 60_000, everyMs: 100 });
}
