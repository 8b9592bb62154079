import { createDatabase, type Tx } from '../database/database.ts';
import { sqlStateOf } from '../database/errors.ts';
import type { Log } from '../log.ts';
import type { PostgresConnection } from './cluster.ts';

export const serviceRole = 'heliograph';

/**
 * Creates the service's role and database. The role is not a superuser, so no SQL through the service can run a program
 * or read a file. An earlier or a concurrent start may have done each step.
 */
export async function ensureServiceRole(
  adminConnection: PostgresConnection,
  password: string,
  log: Log,
): Promise<PostgresConnection> {
  const admin = createDatabase({ connection: adminConnection, log, poolSize: 1 });
  try {
    const { count: roles } = await admin.query('select 1 from pg_roles where rolname = $1', [serviceRole]);
    if (roles === 0) await unlessDone(admin, `create role ${serviceRole} login nosuperuser password '${password}'`);
    const { count: databases } = await admin.query('select 1 from pg_database where datname = $1', [serviceRole]);
    if (databases === 0) await unlessDone(admin, `create database ${serviceRole} owner ${serviceRole}`);
  } finally {
    await admin.close();
  }
  return { ...adminConnection, user: serviceRole, password, database: serviceRole };
}

/** Duplicate role, duplicate database, or a unique violation against a concurrent creation. */
const alreadyDone = ['42710', '42P04', '23505'];

async function unlessDone(tx: Tx, statement: string): Promise<void> {
  await tx.query(statement).catch((error: unknown) => {
    if (!alreadyDone.includes(sqlStateOf(error) ?? '')) throw error;
  });
}
