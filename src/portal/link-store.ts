import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';

/** What a one-time link does beside setting a password. */
export interface LinkPurpose {
  makesOperator: boolean;
  removesSecondFactor: boolean;
}

export async function insertLink(
  tx: Tx,
  link: LinkPurpose & { hash: Buffer; personId: string; expiresAtMs: number },
): Promise<void> {
  await tx.query(
    `insert into one_time_link (hash, person_id, makes_operator, removes_second_factor, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [link.hash, link.personId, link.makesOperator, link.removesSecondFactor, toTimestamp(link.expiresAtMs)],
  );
}

export async function findLink(
  tx: Tx,
  hashes: Buffer[],
  nowMs: number,
): Promise<{ hash: Buffer; personId: string; email: string } | undefined> {
  const { rows } = await tx.query<{ hash: Buffer; personId: string; email: string }>(
    `select l.hash, p.id as "personId", p.email from one_time_link l join person p on p.id = l.person_id
     where l.hash = any($1::bytea[]) and l.expires_at > $2`,
    [hashes, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** Deletes the link, so it works once even under simultaneous use, and all other links of the person. */
export async function takeLink(
  tx: Tx,
  personId: string,
  hash: Buffer,
  nowMs: number,
): Promise<LinkPurpose | undefined> {
  const { rows } = await tx.query<LinkPurpose>(
    `delete from one_time_link where hash = $1 and expires_at > $2
     returning makes_operator as "makesOperator", removes_second_factor as "removesSecondFactor"`,
    [hash, toTimestamp(nowMs)],
  );
  if (rows[0] !== undefined) await tx.query('delete from one_time_link where person_id = $1', [personId]);
  return rows[0];
}
