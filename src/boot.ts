import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFirstPartitions } from './compose/partitioned-tables.ts';
import type { Clock } from './platform/clock.ts';
import { type OpenKeyRing, openKeyRing, readOrMakeSecret } from './platform/crypto/open-key-ring.ts';
import { requireClockAgrees } from './platform/database/clock-check.ts';
import { createDatabase, type Database, type DatabaseOptions } from './platform/database/database.ts';
import { migrate } from './platform/database/migrate.ts';
import { takeNodeLock } from './platform/database/node-lock.ts';
import { connectionsNeeded, type PoolSizes, parentPools, webPools } from './platform/database/pool-sizes.ts';
import { createPrimaryOf } from './platform/database/primary/primary-of.ts';
import type { Log } from './platform/log.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded.ts';
import { patiently } from './platform/work/patiently.ts';
import type { Config } from './settings/settings.ts';

/** Each part pushes its own shutdown step. Shutdown runs the steps in reverse order. */
export type ShutdownSteps = (() => Promise<void>)[];

export interface BootOptions {
  config: Config;
  clock: Clock;
  log: Log;
  shutdownSteps: ShutdownSteps;
  /** A service takes the node lock; a command may run beside a service; a restore must be alone. */
  as: 'service' | 'command' | 'restore';
  say: (text: string) => void;
  onFatal: (error: Error) => void;
}

export interface OpenStore {
  database: Database;
  /** A small pool, so that slow portal reads take no connection from the APIs. */
  sideDatabase: Database;
  /** For the delivery thread, which opens its own pool. */
  connection: DatabaseOptions['connection'];
}

export interface BootResult extends OpenStore {
  keys: OpenKeyRing;
  secret: string;
}

/** Prepares what every part needs: a migrated database that this process may use, and the key ring. */
export async function boot(options: BootOptions): Promise<BootResult> {
  const { config, clock, log, shutdownSteps } = options;
  const store = await openStore(options);
  const { database } = store;
  const secret = config.secret ?? (await readOrMakeSecret(config.dataDir));
  const keys = await patiently(() => openKeyRing({ database, clock, secret, previousSecret: config.previousSecret }));
  if (options.as === 'service') shutdownSteps.push(keys.follow(log));
  return { ...store, keys, secret };
}

/** Opens the database without the key ring, which a restore replaces. */
export async function openStore(options: BootOptions): Promise<OpenStore> {
  const { config, clock, log, shutdownSteps, onFatal } = options;
  // Other users may enter the folder (Postgres may run as another user), but only the owner may read the files in it.
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({
          folder: join(config.dataDir, 'postgres'),
          log,
          connections: connectionsNeeded(config.processes),
          onProgress: (step) => options.say(`Heliograph is ${step}.`),
        })
      : undefined;
  const connection = embedded?.connection ?? { url: config.databaseUrl ?? '' };
  const pools = config.processes === 1 ? webPools(1) : parentPools;
  const primary = createPrimaryOf(connection, clock, log);
  if (primary !== undefined) shutdownSteps.push(() => primary.stop());
  const { database, sideDatabase } = openPools({ connection, primary, log }, pools);
  shutdownSteps.push(() => database.close());
  shutdownSteps.push(() => sideDatabase.close());

  // A command takes the lock only if it started the embedded Postgres: a running one belongs to its service.
  if (options.as !== 'command' || embedded?.adopted === false) {
    const alone = options.as === 'restore';
    const shared = config.redisUrl !== undefined && !alone;
    const lock = await takeNodeLock({ database, shared, alone, log, onStolen: onFatal });
    // Stop the embedded Postgres only once we hold the lock: otherwise it belongs to another process.
    if (embedded !== undefined) shutdownSteps.unshift(() => embedded.stop());
    shutdownSteps.push(() => lock.release());
  }

  await patiently(() => requireClockAgrees(database, clock));
  await patiently(() => migrate(database, clock, log));
  await patiently(() => makeFirstPartitions(database, clock));
  return { database, sideDatabase, connection };
}

/** The side pool is small, and its statements end sooner. */
export function openPools(common: Pick<DatabaseOptions, 'connection' | 'primary' | 'log'>, { apis, side }: PoolSizes) {
  return {
    database: createDatabase({ ...common, poolSize: apis }),
    sideDatabase: createDatabase({ ...common, poolSize: side, timeouts: { statementMs: 2000 } }),
  };
}
