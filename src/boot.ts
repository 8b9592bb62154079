import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFirstPartitions } from './compose/partitioned-tables.ts';
import type { Clock } from './platform/clock.ts';
import { requireClockAgrees } from './platform/clock-check.ts';
import type { Config } from './platform/config.ts';
import { createDatabase, type Database, type DatabaseOptions } from './platform/database.ts';
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import type { KeyRing } from './platform/keys.ts';
import type { Log } from './platform/log.ts';
import { migrate } from './platform/migrate.ts';
import { takeNodeLock } from './platform/node-lock.ts';
import { openKeyRing, readOrMakeSecret } from './platform/open-key-ring.ts';
import { patiently } from './platform/patiently.ts';

/** Each part pushes its own shutdown step. Shutdown runs the steps in reverse order. */
export type ShutdownSteps = (() => Promise<void>)[];

export interface BootOptions {
  config: Config;
  clock: Clock;
  log: Log;
  shutdownSteps: ShutdownSteps;
  /** A service takes the node lock; a command may run beside a service. */
  as: 'service' | 'command';
  say: (text: string) => void;
  onFatal: (error: Error) => void;
}

export interface BootResult {
  database: Database;
  /** A small pool, so that slow portal reads take no connection from the APIs. */
  sideDatabase: Database;
  keys: KeyRing;
  secret: string;
  /** For the delivery thread, which opens its own pool. */
  connection: DatabaseOptions['connection'];
}

/** Prepares what every part needs: a migrated database that this process may use, and the key ring. */
export async function boot(options: BootOptions): Promise<BootResult> {
  const { config, clock, log, shutdownSteps, onFatal } = options;
  // Other users may enter the folder (Postgres may run as another user), but only the owner may read the files in it.
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({
          folder: join(config.dataDir, 'postgres'),
          log,
          onProgress: (step) => options.say(`Heliograph is ${step}.`),
        })
      : undefined;
  const connection = embedded?.connection ?? { url: config.databaseUrl ?? '' };
  const database = createDatabase({ connection, log });
  const sideDatabase = createDatabase({ connection, log, poolSize: 6, timeouts: { statementMs: 2000 } });
  shutdownSteps.push(() => database.close());
  shutdownSteps.push(() => sideDatabase.close());

  // A command takes the lock only if it started the embedded Postgres: a running one belongs to its service.
  if (options.as === 'service' || embedded?.adopted === false) {
    const shared = config.redisUrl !== undefined;
    const lock = await takeNodeLock({ database, shared, log, onStolen: onFatal });
    // Stop the embedded Postgres only once we hold the lock: otherwise it belongs to another process.
    if (embedded !== undefined) shutdownSteps.unshift(() => embedded.stop());
    shutdownSteps.push(() => lock.release());
  }

  await patiently(() => requireClockAgrees(database, clock));
  await migrate(database, clock, log);
  await patiently(() => makeFirstPartitions(database, clock));
  const secret = config.secret ?? (await readOrMakeSecret(config.dataDir));
  const keys = await patiently(() => openKeyRing({ database, clock, secret, previousSecret: config.previousSecret }));
  if (options.as === 'service') shutdownSteps.push(keys.follow(log));
  return { database, sideDatabase, keys, secret, connection };
}
