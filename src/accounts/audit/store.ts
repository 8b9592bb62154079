import { toTimestamp } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

export type ActorKind = 'member' | 'operator' | 'machine';

export interface NewEntry {
  id: string;
  createdAtMs: number;
  actorKind: ActorKind;
  actorId: string | null;
  accountId: string | null;
  act: string;
  targetKind: string;
  targetId: string;
  details: Record<string, unknown>;
  address: string | null;
}

export interface StoredEntry extends NewEntry {
  /** The e-mail at the time of the act. */
  actorEmail: string | null;
}

export interface AuditFilter {
  accountId?: string | undefined;
  actor?: string | undefined;
  act?: string | undefined;
  target?: string | undefined;
  /** Selects ids from `fromId` on and below `beforeId`. */
  fromId?: string | undefined;
  beforeId?: string | undefined;
}

export async function insertEntry(tx: Tx, entry: NewEntry): Promise<void> {
  await tx.query(insertStatement, [
    entry.id,
    toTimestamp(entry.createdAtMs),
    entry.actorKind,
    entry.actorId,
    entry.accountId,
    entry.act,
    entry.targetKind,
    entry.targetId,
    JSON.stringify(entry.details),
    entry.address,
  ]);
}

const insertStatement = {
  name: 'insert-audit',
  text: `insert into audit
      (id, created_at, actor_kind, actor_id, actor_email, account_id, act, target_kind, target_id, details, address)
    values ($1, $2, $3, $4, (select email from person where id = $4), $5, $6, $7, $8, $9, $10)`,
};

/** Newest first. */
export async function listEntries(tx: Tx, filter: AuditFilter, limit: number): Promise<StoredEntry[]> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replaceAll('?', `$${values.length}`));
  };
  add('account_id = ?', filter.accountId);
  add('actor_email = ?', filter.actor);
  add('act = ?', filter.act);
  add('target_id = ?', filter.target);
  add('id >= ?', filter.fromId);
  add('id < ?', filter.beforeId);
  values.push(limit);
  const { rows } = await tx.query<StoredEntry>(
    `select id, created_at as "createdAtMs", actor_kind as "actorKind", actor_id as "actorId",
       actor_email as "actorEmail", account_id as "accountId", act, target_kind as "targetKind",
       target_id as "targetId", details, address
     from audit ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by id desc limit $${values.length}`,
    values,
  );
  return rows;
}

/** Deletes one batch of the entries before this id. A trigger refuses deletions by any other transaction. */
export function deleteOldEntries(database: Database, beforeId: string): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.query(`select set_config('heliograph.audit_upkeep', 'on', true)`);
    const { count } = await tx.query(
      'delete from audit where id = any(array(select id from audit where id < $1 order by id limit $2))',
      [beforeId, pieceRows],
    );
    return count;
  });
}
