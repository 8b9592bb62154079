import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** A person who signs in: a member of one or more accounts. */
export interface Person {
  id: string;
  email: string;
  operator: boolean;
  createdAtMs: number;
}

export interface PersonWithPassword extends Person {
  /** Null until a one-time link sets it. */
  passwordHash: string | null;
}

const columns = 'id, email, operator, created_at as "createdAtMs"';

/** False when a person with this e-mail exists. */
export async function insertPerson(tx: Tx, person: Person, passwordHash: string | null): Promise<boolean> {
  const { count } = await tx.query(
    `insert into person (id, email, password_hash, operator, created_at) values ($1, $2, $3, $4, $5)
     on conflict (email) do nothing`,
    [person.id, person.email, passwordHash, person.operator, toTimestamp(person.createdAtMs)],
  );
  return count > 0;
}

export async function findPersonByEmail(tx: Tx, email: string): Promise<PersonWithPassword | undefined> {
  const { rows } = await tx.query<PersonWithPassword>(
    `select ${columns}, password_hash as "passwordHash" from person where email = $1`,
    [email],
  );
  return rows[0];
}

export async function findPerson(tx: Tx, id: string): Promise<PersonWithPassword | undefined> {
  const { rows } = await tx.query<PersonWithPassword>(
    `select ${columns}, password_hash as "passwordHash" from person where id = $1`,
    [id],
  );
  return rows[0];
}

/** Locks the password until the transaction ends. False when its hash has changed. */
export async function lockPassword(tx: Tx, personId: string, passwordHash: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from person where id = $1 and password_hash = $2 for share', [
    personId,
    passwordHash,
  ]);
  return count > 0;
}

/** Replaces the hash and locks it. False when the hash has changed. */
export async function replacePassword(tx: Tx, personId: string, before: string, after: string): Promise<boolean> {
  const { count } = await tx.query('update person set password_hash = $3 where id = $1 and password_hash = $2', [
    personId,
    before,
    after,
  ]);
  return count > 0;
}

export async function setPassword(tx: Tx, personId: string, passwordHash: string): Promise<void> {
  await tx.query('update person set password_hash = $2 where id = $1', [personId, passwordHash]);
}

/** False when the person is one already. */
export async function makeOperator(tx: Tx, personId: string): Promise<boolean> {
  const { count } = await tx.query('update person set operator = true where id = $1 and not operator', [personId]);
  return count > 0;
}

export async function countOperatorsWithoutFactor(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) from person p where operator
     and not exists (select from second_factor f where f.person_id = p.id and f.confirmed_at is not null)`,
  );
  return rows[0]?.count ?? 0;
}

/** Changes of one person's credentials and accounts run one at a time. */
export async function lockPerson(tx: Tx, personId: string): Promise<void> {
  await tx.query('select 1 from person where id = $1 for no key update', [personId]);
}

export async function deletePerson(tx: Tx, personId: string): Promise<void> {
  await tx.query('delete from person where id = $1', [personId]);
}

export async function isKnownAddress(
  tx: Tx,
  personId: string,
  addressHashes: Buffer[],
  sinceMs: number,
): Promise<boolean> {
  const { count } = await tx.query(
    'select 1 from known_address where person_id = $1 and address_hash = any($2::bytea[]) and seen_at > $3',
    [personId, addressHashes, toTimestamp(sinceMs)],
  );
  return count > 0;
}

export async function putKnownAddress(tx: Tx, personId: string, addressHash: Buffer, nowMs: number): Promise<void> {
  await tx.query(
    `insert into known_address (person_id, address_hash, seen_at) values ($1, $2, $3)
     on conflict (person_id, address_hash) do update set seen_at = $3`,
    [personId, addressHash, toTimestamp(nowMs)],
  );
}
