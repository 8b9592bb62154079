import type { Database } from '../../src/platform/database/database.ts';

/** A table with its partitions, its indexes and its large values. */
export interface TableSize {
  name: string;
  tableBytes: number;
  indexBytes: number;
  /** Since the server was started. */
  inserted: number;
  deleted: number;
}

/** Sizes are read from the file system, counts from Postgres's own books: no row is read. */
export async function readTableSizes(database: Database): Promise<TableSize[]> {
  const { rows } = await database.query<{ [name in keyof TableSize]: string }>(
    `select coalesce(p.relname, c.relname) as name, sum(pg_table_size(c.oid)) as "tableBytes",
       sum(pg_indexes_size(c.oid)) as "indexBytes",
       sum(coalesce(pg_stat_get_tuples_inserted(c.oid), 0)) as inserted,
       sum(coalesce(pg_stat_get_tuples_deleted(c.oid), 0)) as deleted
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
     left join pg_inherits i on i.inhrelid = c.oid
     left join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' group by 1 order by 1`,
  );
  return rows.map(({ name, ...numbers }) => ({
    name,
    tableBytes: Number(numbers.tableBytes),
    indexBytes: Number(numbers.indexBytes),
    inserted: Number(numbers.inserted),
    deleted: Number(numbers.deleted),
  }));
}
