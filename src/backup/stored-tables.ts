import type { Tx } from '../platform/database/database.ts';
import type { Migration } from '../platform/database/migration-files.ts';

export interface StoredTable {
  name: string;
  columns: string[];
}

export interface Store {
  /** A table comes after those that it refers to. */
  tables: StoredTable[];
  /** The names of all tables, with those that a backup leaves out. */
  all: string[];
  /** The last value of each sequence that has been used. */
  sequences: Record<string, number>;
}

/**
 * Tables that no backup holds: current nodes and connections, and what would let a person sign in. A restore leaves these
 * tables empty.
 */
const leftOut = [
  ...[
    'node',
    'registry_change',
    'session',
    'one_time_link',
    'invitation',
    'sso_attempt',
    'sso_challenge',
    'sso_session',
    'carrier_bind',
    'carrier_log',
  ],
  // Which assertions of clients were used in the last minutes.
  'client_assertion',
  // Data about a person's device must be gone after a day.
  'start_client',
  // After a restore each hook needs a new secret: an old one may have ended since.
  ...['hook_secret', 'hook_call'],
  // Twilio-compatible tokens are renewed as well: they sign the callbacks about texts.
  ...['twilio_token', 'status_call'],
  // Accounts of SMPP need new passwords too; what waits for their programs has been sent on since.
  ...['smpp_password', 'smpp_listener', 'smpp_bind', 'smpp_problem', 'smpp_part', 'smpp_delivery'],
];

/** Reads from the catalog what the migrations have made. Other tables in the same schema are not ours. */
export async function readStore(tx: Tx, migrations: Migration[]): Promise<Store> {
  const found = await findTables(tx, namesIn(migrations, /^create table (\w+)/gm));
  const order = inOrder(
    found.map(({ name }) => name),
    await findReferences(tx),
  );
  const tables = order.flatMap((name) => found.filter((table) => table.name === name && !leftOut.includes(name)));
  return {
    tables,
    all: order,
    sequences: await readSequences(tx, order, namesIn(migrations, /^create sequence (\w+)/gm)),
  };
}

function namesIn(migrations: Migration[], made: RegExp): string[] {
  return migrations.flatMap(({ sql }) => [...sql.matchAll(made)].map(([, name = '']) => name));
}

async function findTables(tx: Tx, names: string[]): Promise<StoredTable[]> {
  const { rows } = await tx.query<StoredTable>(
    `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname = any($1)
     group by c.relname order by c.relname`,
    [names],
  );
  return rows;
}

interface Reference {
  from: string;
  to: string;
}

async function findReferences(tx: Tx): Promise<Reference[]> {
  const { rows } = await tx.query<Reference>(
    `select f.relname::text as "from", t.relname::text as "to" from pg_constraint c
     join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
     where c.contype = 'f' and c.connamespace = current_schema()::regnamespace`,
  );
  return rows;
}

/** Sorts names so that each comes after those that it refers to. */
export function inOrder(names: string[], references: Reference[]): string[] {
  const placed = new Set<string>();
  const place = (name: string, path: string[]) => {
    if (placed.has(name)) return;
    if (path.includes(name)) throw new Error(`tables refer to each other: ${[...path, name].join(', ')}`);
    for (const { from, to } of references) if (from === name && to !== name) place(to, [...path, name]);
    placed.add(name);
  };
  for (const name of names) place(name, []);
  return [...placed].filter((name) => names.includes(name));
}

async function readSequences(tx: Tx, tables: string[], names: string[]): Promise<Record<string, number>> {
  const { rows } = await tx.query<{ name: string; last: number | null }>(
    `select c.relname::text as name, pg_sequence_last_value(c.oid) as last from pg_class c
     where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace
       and (c.relname = any($2) or exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
         where d.objid = c.oid and d.classid = 'pg_class'::regclass and t.relname = any($1)))
     order by 1`,
    [tables, names],
  );
  return Object.fromEntries(rows.flatMap(({ name, last }) => (last === null ? [] : [[name, last]])));
}
