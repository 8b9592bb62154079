import type { Tx } from '../../platform/database/database.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';
import { type CarrierRow, readCarriersAndVersion } from '../carrier/store.ts';
import { emptyTable, type RouteTable } from './table.ts';
import { readTableAfter } from './table-store.ts';

/** The routes as a node last read them. */
export interface KnownRoutes {
  table(): RouteTable;
  /** Reads the carriers, and the table if there is a newer one. `changed` says whether there was. */
  read(tx: Tx): Promise<{ rows: CarrierRow[]; changed: boolean }>;
}

/** Reads a table and carriers that belong together: an operator may change both during the read. */
export function createKnownRoutes(): KnownRoutes {
  const mostReads = 3;
  let table: RouteTable = emptyTable;

  return {
    table: () => table,
    async read(tx) {
      const before = table.version;
      let rows: CarrierRow[] = [];
      for (let reads = 0; reads < mostReads; reads++) {
        const { carriers, routesVersion } = await readCarriersAndVersion(tx);
        rows = carriers;
        if (routesVersion !== table.version) table = (await readTableAfter(tx, table.version)) ?? table;
        if (namesOf(table).every((name) => name === sandboxCarrier || rows.some((row) => row.name === name))) break;
      }
      return { rows, changed: table.version !== before };
    },
  };
}

/** The carriers that a table names, each once. */
export function namesOf({ routes }: Pick<RouteTable, 'routes'>): string[] {
  return [
    ...new Set(routes.flatMap(({ carriers, failover }) => [...carriers.map(({ carrier }) => carrier), ...failover])),
  ];
}
