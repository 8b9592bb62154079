import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { type Hook, type HookSecret, mostHooks, type ProvingSecret } from './hook.ts';
import type { HookSecrets, NewHookSecret } from './secret.ts';

const columns = `id, application_id as "applicationId", kind, sender as "from", locale, pointers, created_at as "createdAtMs",
  updated_at as "updatedAtMs"`;

export async function insertHook(tx: Tx, hook: Hook): Promise<void> {
  await tx.query(
    `insert into hook (id, application_id, kind, sender, locale, pointers, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7)`,
    [
      ...[hook.id, hook.applicationId, hook.kind, hook.from, hook.locale],
      ...[hook.pointers === null ? null : JSON.stringify(hook.pointers), toTimestamp(hook.createdAtMs)],
    ],
  );
}

export async function updateHook(tx: Tx, hook: Hook): Promise<void> {
  await tx.query('update hook set sender = $2, locale = $3, pointers = $4, updated_at = $5 where id = $1', [
    ...[hook.id, hook.from, hook.locale],
    ...[hook.pointers === null ? null : JSON.stringify(hook.pointers), toTimestamp(hook.updatedAtMs)],
  ]);
}

export async function deleteHook(tx: Tx, applicationId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from hook where id = $1 and application_id = $2', [id, applicationId]);
  return count > 0;
}

/** Oldest first. */
export async function listHooks(tx: Tx, applicationId: string, limit: number): Promise<Hook[]> {
  const { rows } = await tx.query<Hook>(`select ${columns} from hook where application_id = $1 order by id limit $2`, [
    applicationId,
    limit,
  ]);
  return rows;
}

/** Those of several applications, oldest first. */
export async function listHooksOf(tx: Tx, applicationIds: readonly string[]): Promise<Hook[]> {
  const { rows } = await tx.query<Hook>(
    `select ${columns} from hook where application_id = any($1::text[]) order by id limit $2`,
    [applicationIds, applicationIds.length * mostHooks],
  );
  return rows;
}

export async function findHook(tx: Tx, id: string): Promise<Hook | undefined> {
  const { rows } = await tx.query<Hook>(findStatement, [id]);
  return rows[0];
}

const findStatement = { name: 'find-hook', text: `select ${columns} from hook where id = $1` };

export async function insertSecret(
  tx: Tx,
  hookId: string,
  secret: NewHookSecret & Pick<HookSecret, 'id' | 'createdAtMs'>,
): Promise<void> {
  await tx.query('insert into hook_secret (id, hook_id, sealed, hash, created_at) values ($1, $2, $3, $4, $5)', [
    ...[uuidOf(secret.id), hookId, secret.sealed, secret.hash, toTimestamp(secret.createdAtMs)],
  ]);
}

/** Ends the secrets of a hook at this time at the latest, and deletes expired ones. */
export async function endSecrets(tx: Tx, hookId: string, endsAtMs: number, nowMs: number): Promise<void> {
  await tx.query('update hook_secret set ends_at = least(ends_at, $2) where hook_id = $1', [
    hookId,
    toTimestamp(endsAtMs),
  ]);
  await tx.query('delete from hook_secret where hook_id = $1 and ends_at <= $2', [hookId, toTimestamp(nowMs)]);
}

/** Newest first, without expired ones. */
export async function listSecrets(tx: Tx, hookId: string, nowMs: number): Promise<HookSecret[]> {
  const { rows } = await tx.query<HookSecret>(
    `select id, created_at as "createdAtMs", ends_at as "endsAtMs" from hook_secret
     where hook_id = $1 and (ends_at is null or ends_at > $2) order by id desc`,
    [hookId, toTimestamp(nowMs)],
  );
  return rows.map((row) => ({ ...row, id: fromUuid('sec', row.id) }));
}

/** The secrets by which calls are checked. */
export async function openSecrets(tx: Tx, hookId: string, secrets: HookSecrets): Promise<ProvingSecret[]> {
  const { rows } = await tx.query<{ sealed: Buffer | null; hash: Buffer | null; endsAtMs: number | null }>(
    openStatement,
    [hookId],
  );
  return rows.map(({ sealed, hash, endsAtMs }) => ({
    ...{ endsAtMs, hash },
    key: sealed === null ? null : secrets.open(hookId, sealed),
  }));
}

const openStatement = {
  name: 'open-hook-secrets',
  text: 'select sealed, hash, ends_at as "endsAtMs" from hook_secret where hook_id = $1 order by id desc',
};
