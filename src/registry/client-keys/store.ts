import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { ClientKeyAlg, ReadPublicKey } from './public-key.ts';

export interface ClientKeyRow {
  id: string;
  name: string | null;
  kid: string;
  thumbprint: string;
  alg: ClientKeyAlg;
  createdAtMs: number;
  lastUsedAtMs: number | null;
  suspendedAtMs: number | null;
}

export interface StoredClientKey {
  id: string;
  kid: string;
  thumbprint: string;
  alg: ClientKeyAlg;
  spki: Buffer;
  suspended: boolean;
}

/** False when the client has the key already, or another one with this kid. */
export async function insertClientKey(
  tx: Tx,
  clientId: string,
  key: ReadPublicKey & { id: string; name: string | null; createdAtMs: number },
): Promise<boolean> {
  const { count } = await tx.query(
    `insert into client_key (id, client_id, name, kid, thumbprint, alg, spki, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [key.id, clientId, key.name, key.kid, key.thumbprint, key.alg, key.spki, toTimestamp(key.createdAtMs)],
  );
  return count > 0;
}

/** Newest first. */
export async function listClientKeys(tx: Tx, applicationId: string): Promise<ClientKeyRow[]> {
  const { rows } = await tx.query<ClientKeyRow>(
    `select k.id, k.name, k.kid, k.thumbprint, k.alg, k.created_at as "createdAtMs",
       k.last_used_at as "lastUsedAtMs", k.suspended_at as "suspendedAtMs"
     from client_key k join oauth_client c on c.id = k.client_id where c.application_id = $1 order by k.id desc`,
    [applicationId],
  );
  return rows;
}

/** The public keys with which assertions of a client are checked. */
export async function readClientKeys(tx: Tx, clientId: string): Promise<StoredClientKey[]> {
  const { rows } = await tx.query<StoredClientKey>(selectKeys, [clientId]);
  return rows;
}

const selectKeys = {
  name: 'select-client-keys',
  text: `select id, kid, thumbprint, alg, spki, suspended_at is not null as suspended
    from client_key where client_id = $1 order by id desc`,
};

export async function deleteClientKey(tx: Tx, clientId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from client_key where client_id = $1 and id = $2', [clientId, id]);
  return count > 0;
}

/** False if it is not suspended. */
export async function enableClientKey(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query(
    'update client_key set suspended_at = null where id = $1 and suspended_at is not null',
    [id],
  );
  return count > 0;
}
