import type { PageRequest } from '../http/list-page.ts';
import { apiNames } from '../http/route.ts';

import { toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { OwnNumber } from './own-number.ts';

interface OwnNumberRow extends Omit<OwnNumber, 'api'> {
  api: number;
}

const columns = `id, number, keyword, carrier, application_id as "applicationId", api, ignored_words as "ignoredWords",
  created_at as "createdAtMs", updated_at as "updatedAtMs"`;

/** One number may be assigned to several applications, by keyword and carrier. */
export type NumberKey = Pick<OwnNumber, 'number' | 'keyword' | 'carrier'>;

export async function putNumber(tx: Tx, given: OwnNumber): Promise<OwnNumber> {
  const { id, number, keyword, carrier, applicationId, api, ignoredWords, updatedAtMs } = given;
  const { rows } = await tx.query<OwnNumberRow>(
    `insert into own_number (id, number, keyword, carrier, application_id, api, ignored_words, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (number, keyword, carrier) do update set application_id = excluded.application_id, api = excluded.api,
       ignored_words = excluded.ignored_words, updated_at = excluded.updated_at
     returning ${columns}`,
    [
      uuidOf(id),
      number,
      keyword,
      carrier,
      applicationId,
      apiNames.indexOf(api),
      ignoredWords,
      toTimestamp(updatedAtMs),
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the number was not written');
  return toOwnNumber(row);
}

const isKey = 'number = $1 and keyword is not distinct from $2 and carrier is not distinct from $3';

export async function findNumber(tx: Tx, key: NumberKey): Promise<OwnNumber | undefined> {
  const { rows } = await tx.query<OwnNumberRow>(`select ${columns} from own_number where ${isKey}`, values(key));
  return rows.map(toOwnNumber)[0];
}

/**
 * Locks a number until the transaction ends, also if it has no entry yet, and returns the entry of this key. Others who
 * assign the number wait, so its count of entries stays the same.
 */
export async function lockNumber(tx: Tx, key: NumberKey): Promise<OwnNumber | undefined> {
  const lock = 'select pg_advisory_xact_lock(hashtextextended($1, $2))';
  await tx.query(lock, [key.number, lockSeeds.ownNumbers]);
  const found = `select ${columns} from own_number where ${isKey} for update`;
  const { rows } = await tx.query<OwnNumberRow>(found, values(key));
  return rows.map(toOwnNumber)[0];
}

/** Deletes the entry, and returns it as it was. */
export async function deleteNumber(tx: Tx, key: NumberKey): Promise<OwnNumber | undefined> {
  const statement = `delete from own_number where ${isKey} returning ${columns}`;
  const { rows } = await tx.query<OwnNumberRow>(statement, values(key));
  return rows.map(toOwnNumber)[0];
}

function values({ number, keyword, carrier }: NumberKey): unknown[] {
  return [number, keyword, carrier];
}

export async function countNumbersOf(tx: Tx, number: string, most: number): Promise<number> {
  const { count } = await tx.query('select from own_number where number = $1 limit $2', [number, most]);
  return count;
}

/** Newest first; of one number or application if these are given. */
export async function listNumbers(
  tx: Tx,
  filter: { number?: string | undefined; applicationId?: string | undefined },
  { limit, after }: PageRequest,
): Promise<OwnNumber[]> {
  const { rows } = await tx.query<OwnNumberRow>(
    `select ${columns} from own_number
     where ($2::text is null or number = $2) and ($3::text is null or application_id = $3) and ($4::uuid is null or id < $4)
     order by id desc limit $1`,
    [limit, filter.number ?? null, filter.applicationId ?? null, after === undefined ? null : uuidOf(after)],
  );
  return rows.map(toOwnNumber);
}

/** All entries of these numbers, for texts to or from them. */
export async function findNumbers(tx: Tx, numbers: string[]): Promise<OwnNumber[]> {
  const { rows } = await tx.query<OwnNumberRow>(findStatement, [numbers]);
  return rows.map(toOwnNumber);
}

const findStatement = {
  name: 'find-own-numbers',
  text: `select ${columns} from own_number where number = any($1::text[]) order by id`,
};

/**
 * Whether an application holds a number at the carrier of this name. Until the transaction ends, the number cannot be taken
 * away or given to another application.
 */
export async function lockHeld(
  tx: Tx,
  { applicationId, number, carrier }: { applicationId: string; number: string; carrier: string },
): Promise<boolean> {
  const { count } = await tx.query(
    `select from own_number where application_id = $1 and number = $2 and (carrier is null or carrier = $3)
     limit 1 for share`,
    [applicationId, number, carrier],
  );
  return count > 0;
}

function toOwnNumber({ id, api, ...row }: OwnNumberRow): OwnNumber {
  return { ...row, id: fromUuid('num', id), api: apiNames[api] === 'messaging' ? 'messaging' : 'sms' };
}
