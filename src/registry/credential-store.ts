import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';

export interface ApiKeyRow {
  id: string;
  name: string | null;
  prefix: string;
  lastFour: string;
  createdAtMs: number;
  lastUsedAtMs: number | null;
  expiresAtMs: number | null;
  suspendedAtMs: number | null;
}

export interface ClientRow {
  id: string;
  secrets: {
    id: string;
    lastFour: string;
    createdAtMs: number;
    lastUsedAtMs: number | null;
    expiresAtMs: number | null;
    suspendedAtMs: number | null;
  }[];
}

export async function insertApiKey(
  tx: Tx,
  key: {
    id: string;
    applicationId: string;
    name: string | null;
    hash: Buffer;
    prefix: string;
    lastFour: string;
    createdAtMs: number;
  },
): Promise<void> {
  await tx.query(
    `insert into api_key (id, application_id, name, hash, prefix, last_four, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [key.id, key.applicationId, key.name, key.hash, key.prefix, key.lastFour, toTimestamp(key.createdAtMs)],
  );
}

/** Lists keys that have not expired, newest first. */
export async function listApiKeys(tx: Tx, applicationId: string, nowMs: number): Promise<ApiKeyRow[]> {
  const { rows } = await tx.query<ApiKeyRow>(
    `select id, name, prefix, last_four as "lastFour", created_at as "createdAtMs", last_used_at as "lastUsedAtMs",
       expires_at as "expiresAtMs", suspended_at as "suspendedAtMs"
     from api_key where application_id = $1 and (expires_at is null or expires_at > $2) order by id desc`,
    [applicationId, toTimestamp(nowMs)],
  );
  return rows;
}

export async function deleteApiKeys(tx: Tx, applicationId: string): Promise<void> {
  await tx.query('delete from api_key where application_id = $1', [applicationId]);
}

export async function deleteApiKey(tx: Tx, applicationId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from api_key where application_id = $1 and id = $2', [applicationId, id]);
  return count > 0;
}

/** Makes all current keys expire at `endsAtMs`, or earlier if they already do. */
export async function endApiKeys(tx: Tx, applicationId: string, endsAtMs: number): Promise<void> {
  await tx.query(
    'update api_key set expires_at = $2 where application_id = $1 and (expires_at is null or expires_at > $2)',
    [applicationId, toTimestamp(endsAtMs)],
  );
}

export async function endClientSecrets(tx: Tx, clientId: string, endsAtMs: number): Promise<void> {
  await tx.query(
    'update client_secret set expires_at = $2 where client_id = $1 and (expires_at is null or expires_at > $2)',
    [clientId, toTimestamp(endsAtMs)],
  );
}

/** False if the application has no live secret with this id. */
export async function deleteClientSecret(tx: Tx, clientId: string, id: string, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    'delete from client_secret where client_id = $1 and id = $2 and (expires_at is null or expires_at > $3)',
    [clientId, id, toTimestamp(nowMs)],
  );
  return count > 0;
}

export async function deleteExpired(tx: Tx, applicationId: string, nowMs: number): Promise<void> {
  const values = [applicationId, toTimestamp(nowMs)];
  await tx.query('delete from api_key where application_id = $1 and expires_at <= $2', values);
  await tx.query(
    `delete from client_secret where expires_at <= $2
     and client_id in (select id from oauth_client where application_id = $1)`,
    values,
  );
}

export async function insertClient(tx: Tx, id: string, applicationId: string): Promise<void> {
  await tx.query('insert into oauth_client (id, application_id) values ($1, $2)', [id, applicationId]);
}

export async function insertClientSecret(
  tx: Tx,
  secret: { id: string; clientId: string; hash: Buffer; ringVersion: number; lastFour: string; createdAtMs: number },
): Promise<void> {
  await tx.query(
    'insert into client_secret (id, client_id, hash, ring_version, last_four, created_at) values ($1, $2, $3, $4, $5, $6)',
    [secret.id, secret.clientId, secret.hash, secret.ringVersion, secret.lastFour, toTimestamp(secret.createdAtMs)],
  );
}

/** Ends all tokens of this client: the edge compares each token's version with the client's. */
export async function raiseCredentialVersion(tx: Tx, clientId: string): Promise<void> {
  await tx.query('update oauth_client set credential_version = credential_version + 1 where id = $1', [clientId]);
}

export async function deleteClient(tx: Tx, applicationId: string): Promise<void> {
  await tx.query('delete from oauth_client where application_id = $1', [applicationId]);
}

export async function findClient(tx: Tx, applicationId: string, nowMs: number): Promise<ClientRow | undefined> {
  const { rows } = await tx.query<Pick<ClientRow, 'id'>>('select id from oauth_client where application_id = $1', [
    applicationId,
  ]);
  const client = rows[0];
  if (client === undefined) return undefined;
  const secrets = await tx.query<ClientRow['secrets'][number]>(
    `select id, last_four as "lastFour", created_at as "createdAtMs", last_used_at as "lastUsedAtMs",
       expires_at as "expiresAtMs", suspended_at as "suspendedAtMs"
     from client_secret where client_id = $1 and (expires_at is null or expires_at > $2) order by id desc`,
    [client.id, toTimestamp(nowMs)],
  );
  return { ...client, secrets: secrets.rows };
}
