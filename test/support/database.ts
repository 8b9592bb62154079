import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/platform/database.ts';
import type { EmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { migrate } from '../../src/platform/migrate.ts';
import { randomBase62 } from '../../src/platform/random.ts';
import { createTestLog } from './log.ts';

export type Connection = EmbeddedPostgres['connection'];

export interface TestDatabase {
  database: Database;
  connection: Connection;
  /** Another pool on the same database, as a second node would have. Closed with the rest. */
  another(options?: Partial<DatabaseOptions>): Database;
  drop(): Promise<void>;
}

/** The server that `npm test` started. Databases are made by its superuser and used by the service's role. */
export function testServer(): Pick<EmbeddedPostgres, 'connection' | 'adminConnection'> {
  const text = process.env.HELIOGRAPH_TEST_SERVER;
  if (text === undefined)
    throw new Error('Run the tests by `npm test`, or one file by `npm test -- part-of-its-name`.');
  return JSON.parse(text) as EmbeddedPostgres;
}

/** A database of the test's own on the real server, with every migration run unless `empty`. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const { log } = createTestLog();
  // Making and dropping a database takes its time on a busy machine.
  const timeouts = { connectMs: 30_000, statementMs: 60_000, transactionMs: 60_000 };
  const server = testServer();
  const admin = createDatabase({ connection: server.adminConnection, log, poolSize: 1, timeouts });
  const name = `test_${randomBase62(12).toLowerCase()}`;
  await admin.query(`create database ${name} owner ${server.connection.user}`);
  const connection = { ...server.connection, database: name };
  const opened: Database[] = [];
  const another = (options: Partial<DatabaseOptions> = {}) => {
    // A busy machine may take its time to open a connection; how long one may wait is tested elsewhere.
    const database = createDatabase({ connection, log, timeouts: { connectMs: 10_000 }, ...options });
    opened.push(database);
    return database;
  };
  const database = another();
  if (!empty) await migrate(database, systemClock, log);
  return {
    database,
    connection,
    another,
    async drop() {
      await Promise.all(opened.map((each) => each.close()));
      await admin.query(`drop database ${name} with (force)`);
      await admin.close();
    },
  };
}
