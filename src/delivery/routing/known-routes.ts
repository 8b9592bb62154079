import type { Tx } from '../../platform/database/database.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';
import { type CarrierRow, readCarriersAndVersion } from '../carrier/store.ts';
import { emptyTable, type RouteTable } from './table.ts';
import { readTableAfter } from './table-store.ts';

/** The routes as a node last read them, and carriers that belong to them: an operator may change both during a read. */
export function createKnownRoutes() {
  const mostReads = 3;
  let table: RouteTable = emptyTable;

  return {
    table: (): RouteTable => table,
    /** Reads the carriers, and the table if there is a newer one. `changed` says whether there was. */
    async read(tx: Tx): Promise<{ rows: CarrierRow[]; changed: boolean }> {
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
