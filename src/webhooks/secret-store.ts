import { toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { WebhookSecret } from './webhook.ts';

const secretBytes = 32;

export function newSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** Newest first, without expired ones. */
export async function listSecrets(tx: Tx, webhookId: string, nowMs: number): Promise<WebhookSecret[]> {
  const { rows } = await tx.query<WebhookSecret>(
    `select id, created_at as "createdAtMs", ends_at as "endsAtMs" from webhook_secret
     where webhook_id = $1 and (ends_at is null or ends_at > $2) order by id desc`,
    [uuidOf(webhookId), toTimestamp(nowMs)],
  );
  return rows.map(({ id, ...row }) => ({ ...row, id: fromUuid('sec', id) }));
}

export interface InsertedSecret {
  id: string;
  webhookId: string;
  secret: Buffer;
  createdAtMs: number;
}

/** Sealed for this webhook: a copy in the row of another webhook cannot be opened. */
export async function insertSecret(tx: Tx, keys: KeyRing, given: InsertedSecret): Promise<void> {
  const { id, webhookId, secret, createdAtMs } = given;
  await tx.query('insert into webhook_secret (id, webhook_id, sealed, created_at) values ($1, $2, $3, $4)', [
    uuidOf(id),
    uuidOf(webhookId),
    keys.seal(secret, contextOf(webhookId)),
    toTimestamp(createdAtMs),
  ]);
}

/** Ends the secrets of a webhook at this time at the latest, and deletes expired ones. */
export async function endSecrets(tx: Tx, webhookId: string, endsAtMs: number, nowMs: number): Promise<void> {
  await tx.query('update webhook_secret set ends_at = least(ends_at, $2) where webhook_id = $1', [
    uuidOf(webhookId),
    toTimestamp(endsAtMs),
  ]);
  await tx.query('delete from webhook_secret where webhook_id = $1 and ends_at <= $2', [
    uuidOf(webhookId),
    toTimestamp(nowMs),
  ]);
}

/** A secret that a worker signs with. */
export interface SigningSecret {
  secret: Buffer;
  endsAtMs: number | null;
}

/** The secrets of these webhooks, newest first, by the webhook's id. */
export async function openSecrets(tx: Tx, keys: KeyRing, webhookIds: string[]): Promise<Map<string, SigningSecret[]>> {
  const { rows } = await tx.query<{ webhookId: string; sealed: Buffer; endsAtMs: number | null }>(openStatement, [
    webhookIds.map(uuidOf),
  ]);
  const found = new Map<string, SigningSecret[]>();
  for (const { webhookId: uuid, sealed, endsAtMs } of rows) {
    const webhookId = fromUuid('whk', uuid);
    const secret = keys.open(sealed, contextOf(webhookId));
    found.set(webhookId, [...(found.get(webhookId) ?? []), { secret, endsAtMs }]);
  }
  return found;
}

const openStatement = {
  name: 'open-webhook-secrets',
  text: `select webhook_id as "webhookId", sealed, ends_at as "endsAtMs" from webhook_secret
    where webhook_id = any($1::uuid[]) order by id desc`,
};

function contextOf(webhookId: string): string {
  return `webhook:${webhookId}`;
}
