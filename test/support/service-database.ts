import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { createTestLog } from './log.ts';
import { waitUntilGone } from './process.ts';
import { postmasterOf } from './service.ts';

/** Straight into the embedded database of a service, past the service. */
export async function inDatabase<Result>(
  dataDir: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const home = join(dataDir, 'postgres');
  const [, , , port, socket, host] = readFileSync(join(home, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const connection = {
    host: socket || host || '',
    port: Number(port),
    user: 'heliograph',
    password: readFileSync(join(home, 'password'), 'utf8').trim(),
    database: 'heliograph',
  };
  const timeouts = { connectMs: 10_000, statementMs: 30_000, transactionMs: 30_000 };
  const database = createDatabase({ connection, log: createTestLog().log, poolSize: 1, timeouts });
  return work(database).finally(() => database.close());
}

/** Ends the Postgres of a service: by SIGKILL as a crash does, by SIGINT as a restart does. */
export async function endPostgres(dataDir: string, signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
  const postmaster = postmasterOf(dataDir);
  assert.ok(postmaster !== undefined, 'no Postgres runs');
  process.kill(postmaster, signal);
  assert.ok(await waitUntilGone(postmaster), 'Postgres did not end');
}
