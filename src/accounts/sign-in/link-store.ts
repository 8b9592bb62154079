import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** What a one-time link does besides setting a password. */
export interface LinkPurpose {
  makesOperator: boolean;
  removesSecondFactor: boolean;
  /** True if a command on the machine made it; false if an operator made it in the portal. */
  fromMachine: boolean;
}

export interface FoundLink extends LinkPurpose {
  hash: Buffer;
  personId: string;
  email: string;
  /** Whether the person already is an operator. */
  operator: boolean;
}

const purpose = `l.makes_operator as "makesOperator", l.removes_second_factor as "removesSecondFactor",
  l.from_machine as "fromMachine"`;

export async function insertLink(
  tx: Tx,
  link: LinkPurpose & { hash: Buffer; personId: string; expiresAtMs: number },
): Promise<void> {
  await tx.query(
    `insert into one_time_link (hash, person_id, makes_operator, removes_second_factor, from_machine, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      ...[link.hash, link.personId, link.makesOperator, link.removesSecondFactor, link.fromMachine],
      toTimestamp(link.expiresAtMs),
    ],
  );
}

/** Skips links of the portal for operators: one made before the person became an operator must not work. */
export async function findLink(tx: Tx, hashes: Buffer[], nowMs: number): Promise<FoundLink | undefined> {
  const { rows } = await tx.query<FoundLink>(
    `select l.hash, p.id as "personId", p.email, p.operator, ${purpose}
     from one_time_link l join person p on p.id = l.person_id
     where l.hash = any($1::bytea[]) and l.expires_at > $2 and (l.from_machine or not p.operator)`,
    [hashes, toTimestamp(nowMs)],
  );
  return rows[0];
}

/**
 * Deletes the link, so that it works once even under simultaneous use, and all other links of the person. Locks the
 * person, so that it cannot become an operator meanwhile.
 */
export async function takeLink(
  tx: Tx,
  personId: string,
  hash: Buffer,
  nowMs: number,
): Promise<LinkPurpose | undefined> {
  const { rows } = await tx.query<LinkPurpose>(
    `delete from one_time_link l using person p
     where l.hash = $1 and l.expires_at > $2 and p.id = l.person_id and (l.from_machine or not p.operator)
     returning ${purpose}`,
    [hash, toTimestamp(nowMs)],
  );
  if (rows[0] !== undefined) await tx.query('delete from one_time_link where person_id = $1', [personId]);
  return rows[0];
}

/** Deletes one link. False when it was used or has expired. */
export async function deleteLink(tx: Tx, hash: Buffer, nowMs: number): Promise<boolean> {
  const { count } = await tx.query('delete from one_time_link where hash = $1 and expires_at > $2', [
    hash,
    toTimestamp(nowMs),
  ]);
  return count > 0;
}
