import { type EventType, typeCode } from '../events/event.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { toTypes } from './store.ts';

/** A span of events to replay. */
export interface Replay {
  id: string;
  webhookId: string;
  /** The position up to which it is queued. */
  position: number;
  upTo: number;
  sinceMs: number;
  untilMs: number;
  /** Empty: all. */
  types: EventType[];
}

export async function countReplays(tx: Tx, webhookId: string): Promise<number> {
  const { count } = await tx.query('select from webhook_replay where webhook_id = $1 limit 100', [uuidOf(webhookId)]);
  return count;
}

export async function insertReplay(tx: Tx, replay: Replay, nowMs: number): Promise<void> {
  await tx.query(
    `insert into webhook_replay (id, webhook_id, position, up_to, since, until, types, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      uuidOf(replay.id),
      uuidOf(replay.webhookId),
      replay.position,
      replay.upTo,
      toTimestamp(replay.sinceMs),
      toTimestamp(replay.untilMs),
      replay.types.map(typeCode),
      toTimestamp(nowMs),
    ],
  );
}

/** The oldest replay of a webhook. */
export async function findReplay(tx: Tx, webhookId: string): Promise<Replay | undefined> {
  const { rows } = await tx.query<Omit<Replay, 'types'> & { types: number[] }>(findStatement, [uuidOf(webhookId)]);
  return rows.map(({ id, types, ...row }) => ({
    ...row,
    id: fromUuid('evt', id),
    webhookId,
    types: toTypes(types),
  }))[0];
}

const findStatement = {
  name: 'find-webhook-replay',
  text: `select id, position, up_to as "upTo", since as "sinceMs", until as "untilMs", types from webhook_replay
    where webhook_id = $1 order by id limit 1`,
};

/** Saves the progress of a replay, or deletes it at its end. */
export async function advanceReplay(tx: Tx, { id, upTo }: Replay, position: number): Promise<void> {
  if (position >= upTo) await tx.query('delete from webhook_replay where id = $1', [uuidOf(id)]);
  else await tx.query('update webhook_replay set position = $2 where id = $1', [uuidOf(id), position]);
}
