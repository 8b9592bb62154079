import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from './platform/clock.ts';
import { requireClockAgrees } from './platform/clock-check.ts';
import type { Config } from './platform/config.ts';
import { createDatabase, type Database, type DatabaseOptions } from './platform/database.ts';
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { type KeyRing, openKeyRing, readOrMakeSecret } from './platform/keys.ts';
import type { Log } from './platform/log.ts';
import { migrate } from './platform/migrate.ts';
import { takeNodeLock } from './platform/node-lock.ts';

/** Each part that starts says here how it ends; the last one started ends first. */
export type Endings = (() => Promise<void>)[];

export interface BootOptions {
  config: Config;
  clock: Clock;
  log: Log;
  endings: Endings;
  /** A service is the only one on its database; a command may run beside it. */
  as: 'service' | 'command';
  say: (text: string) => void;
  onFatal: (error: Error) => void;
}

export interface Foundation {
  database: Database;
  /** A small pool for work beside the APIs. */
  sideDatabase: Database;
  keys: KeyRing;
  secret: string;
  /** For a thread that needs connections of its own. */
  connection: DatabaseOptions['connection'];
}

/** What everything stands on: a database that is up to date and ours to use, and the key ring. */
export async function boot(options: BootOptions): Promise<Foundation> {
  const { config, clock, log, endings, onFatal } = options;
  // Others may pass through it (Postgres may have to run as another user), but every file in it is its owner's alone.
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
  endings.push(() => database.close());
  endings.push(() => sideDatabase.close());

  // A command that finds a server running leaves it to the service it belongs to.
  if (options.as === 'service' || embedded?.adopted === false) {
    const shared = config.redisUrl !== undefined;
    const lock = await takeNodeLock({ database, shared, log, onStolen: onFatal });
    // From here on the embedded server is ours to stop. Were the lock another's, so would the server be.
    if (embedded !== undefined) endings.unshift(() => embedded.stop());
    endings.push(() => lock.release());
  }

  await requireClockAgrees(database, clock);
  await migrate(database, clock, log);
  const secret = config.secret ?? (await readOrMakeSecret(config.dataDir));
  const keys = await openKeyRing({ database, clock, secret, previousSecret: config.previousSecret });
  return { database, sideDatabase, keys, secret, connection };
}
