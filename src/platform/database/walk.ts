import type { Tx } from './database.ts';

const lowestUuid = '00000000-0000-0000-0000-000000000000';

/**
 * How far a chore has gone through rows in the order of their ids. The row stays locked until the transaction ends, so
 * that two nodes do not do the same piece.
 */
export async function readWalk(tx: Tx, name: string): Promise<string> {
  await tx.query('insert into walk (name, done_before) values ($1, $2) on conflict (name) do nothing', [
    name,
    lowestUuid,
  ]);
  const { rows } = await tx.query<{ done: string }>('select done_before as done from walk where name = $1 for update', [
    name,
  ]);
  return rows[0]?.done ?? lowestUuid;
}

/** Notes that the chore has done everything up to this id. */
export async function writeWalk(tx: Tx, name: string, doneBefore: string): Promise<void> {
  await tx.query('update walk set done_before = $2 where name = $1', [name, doneBefore]);
}

/** How far a chore has gone, without a lock: it may be further by now. */
export async function readPosition(tx: Tx, name: string): Promise<string> {
  const { rows } = await tx.query<{ done: string }>('select done_before as done from walk where name = $1', [name]);
  return rows[0]?.done ?? lowestUuid;
}

/** Like `readPosition`, as SQL: for a statement that must see the rows of a chore and its position at one moment. */
export const positionOf = (name: string) =>
  `coalesce((select done_before from walk where name = '${name}'), '${lowestUuid}'::uuid)`;
