import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp } from './app.ts';
import { systemClock } from './platform/clock.ts';
import { requireClockAgrees } from './platform/clock-check.ts';
import { type Config, readConfig } from './platform/config.ts';
import { createDatabase, type DatabaseOptions } from './platform/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { StartError } from './platform/errors.ts';
import { openKeyRing, readOrMakeSecret } from './platform/keys.ts';
import { createLog, type Log } from './platform/log.ts';
import { migrate } from './platform/migrate.ts';
import { takeNodeLock } from './platform/node-lock.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, readable: process.stdout.isTTY === true });
  // Each part that starts says here how it ends; the last one started ends first.
  const endings: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;

  const end = (): Promise<void> => {
    ending ??= (async () => {
      for (const step of endings.reverse()) {
        await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop cleanly'));
      }
    })();
    return ending;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ending !== undefined) return;
      say('Stopping: finishing what is in flight.');
      void end().then(() => process.exit(0));
    });
  }

  try {
    await start(config, log, endings, (error) => {
      process.stderr.write(`\n${error.message}\n`);
      void end().then(() => process.exit(1));
    });
    say(welcome(config));
  } catch (error) {
    await end();
    throw error;
  }
}

async function start(
  config: Config,
  log: Log,
  endings: (() => Promise<void>)[],
  onFatal: (error: Error) => void,
): Promise<void> {
  // Others may pass through it (Postgres may have to run as another user), but every file in it is its owner's alone.
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  let embedded: EmbeddedPostgres | undefined;
  let connection: DatabaseOptions['connection'];
  if (config.databaseUrl === undefined) {
    const onProgress = (step: string) => say(`Heliograph is ${step}.`);
    embedded = await startEmbeddedPostgres({ folder: join(config.dataDir, 'postgres'), log, onProgress });
    connection = embedded.connection;
  } else {
    connection = { url: config.databaseUrl };
  }

  const database = createDatabase({ connection, log });
  endings.push(() => database.close());
  const lock = await takeNodeLock({ database, shared: config.redisUrl !== undefined, log, onStolen: onFatal });
  // From here on the embedded server is ours to stop. Were the lock another's, so would the server be.
  if (embedded !== undefined) endings.unshift(() => (embedded as EmbeddedPostgres).stop());
  endings.push(() => lock.release());

  await requireClockAgrees(database, systemClock);
  await migrate(database, systemClock, log);
  const secret = config.secret ?? (await readOrMakeSecret(config.dataDir));
  const keys = await openKeyRing({ database, clock: systemClock, secret, previousSecret: config.previousSecret });

  const app = createApp({ config, clock: systemClock, database, keys, log, version });
  endings.push(() => app.stop());
  await app.start();
}

function welcome(config: Config): string {
  return [
    '',
    `Heliograph ${version} is ready (${config.environment}).`,
    '',
    `  Reference  ${config.publicUrl}/docs`,
    `  Health     ${config.publicUrl}/readyz`,
    '',
    'Stop it with Ctrl-C.',
    '',
  ].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().catch((error: unknown) => {
  const expected = error instanceof StartError || (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  const text = error instanceof Error ? ((expected ? error.message : error.stack) ?? error.message) : String(error);
  process.stderr.write(`\nHeliograph could not start.\n${text}\n`);
  process.exit(1);
});
