import { toTimestamp } from '../../platform/clock.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { RouteRule, RouteTable } from './table.ts';

/** Taken by a transaction that changes the routes or deletes a carrier, so that no route loses its carrier. */
export async function lockRoutes(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.routeTable]);
}

/** A version of the table, as it was written. */
export interface StoredTable extends RouteTable {
  createdAtMs: number;
}

/** The newest version; undefined while there is none. */
export async function readNewestTable(tx: Tx): Promise<StoredTable | undefined> {
  const { rows } = await tx.query<StoredTable>(newestStatement);
  return rows[0];
}

const columns = 'version, routes, created_at as "createdAtMs"';
const newestStatement = {
  name: 'read-newest-routes',
  text: `select ${columns} from route_table order by version desc limit 1`,
};

/** The newest version, if it differs from this one. A poll that finds nothing new transfers no table. */
export async function readTableAfter(tx: Tx, version: number): Promise<StoredTable | undefined> {
  const { rows } = await tx.query<StoredTable>(afterStatement, [version]);
  return rows[0];
}

const afterStatement = {
  name: 'read-routes-after',
  text: `select * from (select ${columns} from route_table order by version desc limit 1) newest where version <> $1`,
};

export async function readTable(tx: Tx, version: number): Promise<StoredTable | undefined> {
  const { rows } = await tx.query<StoredTable>(`select ${columns} from route_table where version = $1`, [version]);
  return rows[0];
}

export interface NewTable {
  version: number;
  routes: RouteRule[];
  createdBy: string;
}

/** Writes the next version. Of two callers with the same version the key `route_table_pkey` refuses one. */
export async function insertTable(tx: Tx, { version, routes, createdBy }: NewTable, nowMs: number): Promise<void> {
  await tx.query('insert into route_table (version, routes, created_at, created_by) values ($1, $2, $3, $4)', [
    version,
    JSON.stringify(routes),
    toTimestamp(nowMs),
    createdBy,
  ]);
}
