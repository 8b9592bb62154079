import type { Clock } from '../clock.ts';
import type { Tx } from './database.ts';

export interface DatabaseState {
  version: string;
  /** Connections of all nodes and of others to this database. */
  connections: number;
  mostConnections: number;
  /** How long this query took. */
  answerMs: number;
}

export async function readDatabaseState(tx: Tx, clock: Clock): Promise<DatabaseState> {
  const beganMs = clock.steadyMs();
  const { rows } = await tx.query<Omit<DatabaseState, 'answerMs'>>(
    `select current_setting('server_version') as version, current_setting('max_connections')::integer as "mostConnections",
       (select count(*)::integer from pg_stat_activity where datname = current_database()) as connections`,
  );
  const { version = '', connections = 0, mostConnections = 0 } = rows[0] ?? {};
  const answerMs = Math.round((clock.steadyMs() - beganMs) * 10) / 10;
  return { version: version.split(' ')[0] ?? '', connections, mostConnections, answerMs };
}
