// Tests: test/contract/find.test.ts, test/parts/find-cost.test.ts
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, idTimeMs, longestRequestMs, uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Verification, verificationStatuses } from './verification.ts';
import { statusCode, toVerification, type VerificationRow, verificationColumns } from './verification-row.ts';
import { boundsOf } from './verification-store.ts';

/**
 * A search for the verifications of some numbers. `from`, `to` (exclusive) and `below` (exclusive) bound their ids, as
 * uuids.
 */
export interface VerificationSearch {
  numbers: string[];
  from: string;
  to: string;
  below: string;
  limit: number;
}

/** Maximum number of pairs of application and status that a search over all applications reads for each time span. */
const mostGroups = 200;
const endStatuses = verificationStatuses.filter((status) => status !== 'pending').map(statusCode);

const isWithin = 'verification_id >= $2 and verification_id < $3';
const newest = (number: string, application: string, status: string) => `select verification_id from ended_verification
      where recipient = ${number} and application_id = ${application} and status = ${status} and ${isWithin}
        and verification_id < $4 order by verification_id desc limit $5`;

export async function findVerificationsOfApplications(
  tx: Tx,
  { numbers, from, to, below, limit }: VerificationSearch,
  applicationIds: string[],
): Promise<Verification[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select verification_id as id from (
       select p.verification_id from unnest($1::text[]) as n(number) cross join unnest($6::uuid[]) as a(id)
         cross join lateral (select verification_id from pending_verification
           where recipient = n.number and application_id = a.id limit 1) p where ${isWithin} and verification_id < $4
       union all
       select f.* from unnest($1::text[]) as n(number) cross join unnest($6::uuid[]) as a(id)
         cross join unnest('{${endStatuses}}'::smallint[]) as s(ended)
         cross join lateral (${newest('n.number', 'a.id', 's.ended')}) f) found
     order by 1 desc limit $5`,
    [numbers, from, to, below, limit, applicationIds.map(uuidOf)],
  );
  return findByUuids(
    tx,
    rows.map(({ id }) => id),
  );
}

/** By the index it jumps from one pair of application and status to the next, as the search for texts does. */
export async function findVerificationsOfAll(
  tx: Tx,
  { numbers, from, to, below, limit }: VerificationSearch,
): Promise<Verification[]> {
  const next = (number: string, after: string) => `select application_id, status from ended_verification
      where recipient = ${number} ${after} and ${isWithin} order by application_id, status limit 1`;
  const { rows } = await tx.query<{ id: string }>(
    `with recursive ended(number, application_id, status) as (
       select n.number, f.* from unnest($1::text[]) as n(number) cross join lateral (${next('n.number', '')}) f
       union all
       select e.number, f.* from ended e
       cross join lateral (${next('e.number', 'and (application_id, status) > (e.application_id, e.status)')}) f)
     select verification_id as id from (
       select p.verification_id from unnest($1::text[]) as n(number) cross join lateral (
         select verification_id from pending_verification where recipient = n.number limit $6) p
       where ${isWithin} and verification_id < $4
       union all
       select f.* from (select * from ended limit $6) e
         cross join lateral (${newest('e.number', 'e.application_id', 'e.status')}) f) found
     order by 1 desc limit $5`,
    [numbers, from, to, below, limit, mostGroups],
  );
  return findByUuids(
    tx,
    rows.map(({ id }) => id),
  );
}

/** Finds a verification of any application. */
export async function findAnyVerification(tx: Tx, id: string): Promise<Verification | undefined> {
  return (await findByUuids(tx, [uuidOf(id)]))[0];
}

/** Newest first. */
async function findByUuids(tx: Tx, uuids: string[]): Promise<Verification[]> {
  if (uuids.length === 0) return [];
  const { rows } = await tx.query<VerificationRow>(
    `select ${verificationColumns('v')} from verification v
     where id = any(array(select unnest($1::uuid[]))) and id >= $2 and id <= $3 order by id desc`,
    [uuids, ...boundsOf(uuids)],
  );
  return rows.map(toVerification);
}

/** Maximum verifications that a search by correlation id reads around the request's time. */
const mostRead = 20_000;

/** The application of the verification that a request started, by the time in both ids. */
export async function findApplicationOfStart(tx: Tx, correlationId: string): Promise<string | undefined> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<{ id: string }>(
    `select application_id as id from (
       select application_id, correlation_id from verification where id >= $2 and id < $3 order by id limit $4) v
     where correlation_id = $1 limit 1`,
    [uuidOf(correlationId), uuidFloor(madeMs - 1000), uuidFloor(madeMs + longestRequestMs), mostRead],
  );
  return rows[0] && fromUuid('app', rows[0].id);
}
