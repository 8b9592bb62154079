import { join } from 'node:path';
import { createLog } from '../../src/platform/log.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { copyMigratedPostgres, keepMigratedPostgres } from './data-folder.ts';
import { migrateDatabase, prepareServer } from './database.ts';

export interface TestServer {
  /** What `testServer()` reads in the test files. */
  settings: string;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  folder: string;
  isInterrupted: () => boolean;
}

/** For the runner: the one Postgres in which every test file makes databases of its own. */
export async function startTestServer({ folder, isInterrupted }: TestServerOptions): Promise<TestServer> {
  const log = createLog({ level: 'warn', readable: true });
  const onProgress = (step: string) => process.stdout.write(`Tests are ${step}.\n`);
  const options = { folder: join(folder, 'server'), log };
  // A run that another run's test starts gets a copy of what that one has made.
  const isMigrated = copyMigratedPostgres(options.folder);
  let postgres = await startEmbeddedPostgres({ ...options, onProgress });
  if (!isMigrated && !isInterrupted()) {
    onProgress('running the migrations');
    await migrateDatabase(postgres);
    await postgres.stop();
    keepMigratedPostgres(options.folder, folder);
    postgres = await startEmbeddedPostgres(options);
  }
  if (!isInterrupted()) await prepareServer(postgres);
  return { settings: JSON.stringify(postgres), stop: () => postgres.stop() };
}
