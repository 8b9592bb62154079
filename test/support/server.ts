import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { prepareServer } from './database.ts';

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
  const postgres: EmbeddedPostgres = await startEmbeddedPostgres({ folder: join(folder, 'server'), log, onProgress });
  if (!isInterrupted()) {
    onProgress('running the migrations');
    await prepareServer(postgres);
  }
  return { settings: JSON.stringify(postgres), stop: () => postgres.stop() };
}
