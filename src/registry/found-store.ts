// Tests: test/contract/find.test.ts
import type { Tx } from '../platform/database/database.ts';

/** An application in a list of search results. */
export interface FoundApplication {
  id: string;
  name: string;
  accountId: string;
  createdAtMs: number;
}

const columns = `id, name, account_id as "accountId", created_at as "createdAtMs"`;

export async function findApplicationsById(tx: Tx, ids: string[]): Promise<Map<string, FoundApplication>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<FoundApplication>(`select ${columns} from application where id = any($1)`, [
    [...new Set(ids)],
  ]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Newest first. `name` is for `like`, in lower case. */
export async function findApplicationsByName(
  tx: Tx,
  { name, accountId, limit }: { name: string; accountId: string | undefined; limit: number },
): Promise<FoundApplication[]> {
  const isOwn = accountId === undefined ? '' : 'and account_id = $3';
  const { rows } = await tx.query<FoundApplication>(
    `select ${columns} from application where lower(name) like $1 ${isOwn} order by id desc limit $2`,
    [name, limit, ...(accountId === undefined ? [] : [accountId])],
  );
  return rows;
}

const ownersOf = {
  key: 'select application_id as id from api_key where id = $1',
  cli: 'select application_id as id from oauth_client where id = $1',
  sec: 'select c.application_id as id from client_secret s join oauth_client c on c.id = s.client_id where s.id = $1',
  cky: 'select c.application_id as id from client_key k join oauth_client c on c.id = k.client_id where k.id = $1',
  reg: 'select application_id as id from registration where id = $1',
  snd: 'select application_id as id from sender where id = $1',
} as const;
export type OwnedPrefix = keyof typeof ownersOf;

export function isOwnedPrefix(prefix: string): prefix is OwnedPrefix {
  return Object.hasOwn(ownersOf, prefix);
}

/** The application that has this key, client, secret, registration or sender. */
export async function findApplicationHaving(tx: Tx, prefix: OwnedPrefix, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>(ownersOf[prefix], [id]);
  return rows[0]?.id;
}
