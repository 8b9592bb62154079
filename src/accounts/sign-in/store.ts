import type { PageRequest } from '../../http/list-page.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { SignInOutcome, SignInWay } from './way.ts';

/** A sign-in, failed or successful. */
export interface SignInRow {
  id: string;
  createdAtMs: number;
  email: string;
  /** Null when no person had the e-mail. */
  personId: string | null;
  address: string;
  way: SignInWay;
  outcome: SignInOutcome;
}

/** Newest rows kept for an e-mail: this many with the right password, and as many without. */
export const mostSignInsPerEmail = 200;
/** Simultaneous sign-ins may leave a few rows too many; the next ones delete them. */
const mostDeleted = 20;

export async function insertSignIn(tx: Tx, row: SignInRow & { knewPassword: boolean }): Promise<void> {
  await tx.query(insertStatement, [
    ...[row.id, toTimestamp(row.createdAtMs), row.email, row.personId, row.address, row.way, row.outcome],
    ...[row.knewPassword, mostSignInsPerEmail - 1, mostDeleted],
  ]);
}

const insertStatement = {
  name: 'insert-sign-in',
  text: `with gone as (delete from sign_in where id = any(array(
      select id from sign_in where email = $3 and knew_password = $8 order by id desc offset $9 limit $10)))
    insert into sign_in (id, created_at, email, person_id, address, way, outcome, knew_password)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

export interface SignInFilter {
  email?: string | undefined;
  personId?: string | undefined;
  address?: string | undefined;
}

/** Newest first. */
export async function listSignIns(tx: Tx, filter: SignInFilter, { limit, after }: PageRequest): Promise<SignInRow[]> {
  const conditions: string[] = [];
  const values: unknown[] = [limit];
  const add = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  add('email =', filter.email);
  add('person_id =', filter.personId);
  add('address =', filter.address);
  add('id <', after);
  const { rows } = await tx.query<SignInRow>(
    `select id, created_at as "createdAtMs", email, person_id as "personId", address, way, outcome
     from sign_in ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`} order by id desc limit $1`,
    values,
  );
  return rows;
}

export async function deleteSignInsOf(tx: Tx, person: { id: string; email: string }): Promise<void> {
  await tx.query('delete from sign_in where email = $1 and person_id = $2', [person.email, person.id]);
}
