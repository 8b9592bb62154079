import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { keepMigratedPostgres } from './data-folder.ts';
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
  let postgres = await startEmbeddedPostgres({ ...options, onProgress });
  if (!isInterrupted()) {
    onProgress('running the migrations');
    await migrateDatabase(postgres);
    await postgres.stop();
    keepMigratedPostgres(options.folder, folder);
    postgres = await startEmbeddedPostgres(options);
    await prepareServer(postgres);
  }
  return { settings: JSON.stringify(postgres), stop: () => postgres.stop() };
}
