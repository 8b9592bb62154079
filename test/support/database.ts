import { readFileSync, writeFileSync } from 'node:fs';
import { makeFirstPartitions } from '../../src/compose/partitioned-tables.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { randomBase62 } from '../../src/platform/crypto/random.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import type { EmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { createTestLog } from './log.ts';

export type Connection = EmbeddedPostgres['connection'];

export interface TestDatabase {
  database: Database;
  connection: Connection;
  /** For a service's `DATABASE_URL`. */
  url: string;
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

// A busy machine may stand still for seconds. Tests of the time limits themselves set their own.
const patient = { connectMs: 10_000, statementMs: 20_000, transactionMs: 25_000 };

// Making and dropping a database takes its time on a busy machine.
const timeouts = { connectMs: 30_000, statementMs: 60_000, transactionMs: 60_000 };

/** For the runner, once: in the service's own database; the databases of tests are copies of it. */
export async function migrateDatabase({ connection }: EmbeddedPostgres): Promise<void> {
  const { log } = createTestLog();
  const database = createDatabase({ connection, log, poolSize: 2, timeouts });
  await migrate(database, systemClock, log);
  await makeFirstPartitions(database, systemClock);
  await database.close();
}

/**
 * For the runner, once. What this server holds is thrown away, so nothing has to survive a power cut: crashes are tried
 * on others. A test's database lives for seconds, and a test that needs a vacuum runs it.
 */
export async function prepareServer({ connection, adminConnection }: EmbeddedPostgres): Promise<void> {
  const { log } = createTestLog();
  const admin = createDatabase({ connection: adminConnection, log, poolSize: 1, timeouts });
  for (const setting of ['fsync', 'full_page_writes', 'autovacuum', 'wal_init_zero', 'jit'])
    await admin.query(`alter system set ${setting} = off`);
  await trustSocket(admin, [connection, adminConnection]);
  await admin.query('select pg_reload_conf()');
  await admin.close();
}

/**
 * A test opens a dozen connections, and a password takes both sides a tenth of what a connection takes. Only this user of
 * the system can open the server's socket. By TCP, or as another role, a password is needed as on any server.
 */
async function trustSocket(admin: Database, roles: Connection[]): Promise<void> {
  const { rows } = await admin.query<{ file: string }>("select current_setting('hba_file') as file");
  const file = rows[0]?.file ?? '';
  const trusted = `local all ${roles.map(({ user }) => user).join(',')} trust\n`;
  writeFileSync(file, trusted + readFileSync(file, 'utf8'));
}

export interface TestDatabaseOptions {
  empty?: boolean;
  /** Of the pool that it opens; ten unless it says less. */
  poolSize?: number;
}

/** A database of the test's own on the real server, with every migration run unless `empty`. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { empty = false, poolSize = 10 } = options;
  const { log } = createTestLog();
  const server = testServer();
  const admin = createDatabase({ connection: server.adminConnection, log, poolSize: 1, timeouts });
  const name = `test_${randomBase62(12).toLowerCase()}`;
  // A copy of its files takes half of the work that Postgres's own way takes, which also logs each page.
  const template = empty ? '' : ` template ${server.connection.database} strategy file_copy`;
  await admin.query(`create database ${name} owner ${server.connection.user}${template}`);
  const connection = { ...server.connection, database: name };
  const opened: Database[] = [];
  const another = (options: Partial<DatabaseOptions> = {}) => {
    // By another connection faults are tried, with the limits of the service.
    const timeouts = options.connection === undefined ? patient : { connectMs: patient.connectMs };
    const database = createDatabase({ connection, log, timeouts, ...options });
    opened.push(database);
    return database;
  };
  const database = another({ poolSize });
  return {
    database,
    connection,
    url: urlOf(connection),
    another,
    async drop() {
      await Promise.all(opened.map((each) => each.close()));
      await admin.query(`drop database ${name} with (force)`);
      await admin.close();
    },
  };
}

/** The server is reached by its socket; a URL needs a host all the same. */
function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}
