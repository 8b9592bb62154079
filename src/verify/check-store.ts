import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import { uuidOf } from '../platform/ids.ts';
import {
  newestText,
  type RowAndText,
  textRange,
  toVerificationsAndTexts,
  type VerificationAndText,
} from './texts/newest-texts.ts';
import { reasonCode, recordColumns, statusCode, verificationColumns } from './verification-row.ts';
import { boundsOf, endings, isOneOf, isPending, type VerificationKey } from './verification-store.ts';

export interface CheckRow {
  id: string;
  applicationId: string;
  codeLength: number;
  /** The ring versions under which the code is right. */
  rightUnder: number[];
  isTestCode: boolean;
}

/**
 * Counts wrong codes that leave their verifications pending: the commonest end of an attack, by the shortest statement.
 * What is no longer open, or has one try left, changes no row here.
 */
export async function spendTries(tx: Tx, keys: VerificationKey[], nowMs: number): Promise<VerificationAndText[]> {
  const uuids = keys.map(({ id }) => uuidOf(id));
  const bounds = boundsOf(uuids);
  const { rows } = await tx.query<RowAndText>(spendStatement, [
    ...toTextRows(keys.map(({ applicationId }, index) => [uuids[index] ?? '', uuidOf(applicationId)])),
    toTimestamp(nowMs),
    ...bounds,
    ...textRange(bounds),
  ]);
  return toVerificationsAndTexts(tx, rows);
}

const isOpen = `v.application_id = k.application_id and v.${isPending} and v.expires_at > $6`;
const text = (table: string) => newestText(table, '$9', '$10');
const spendStatement = {
  name: 'spend-tries',
  text: `with k as materialized (select c[1]::uuid as id, c[2]::uuid as application_id from ${fromTextRows()} t)
    update verification v set attempts = attempts + 1, updated_at = $6
    from k
    where ${isOneOf('$7', '$8')} and ${isOpen} and attempts + 1 < max_attempts
    returning ${verificationColumns('v')}, ${text('v')}`,
};

/**
 * Decides all checks in one statement. The code has been compared already, so the statement only tests that the
 * verification is still open; a check that changes no row came too late.
 */
export async function decideChecks(tx: Tx, checks: CheckRow[], nowMs: number): Promise<VerificationAndText[]> {
  const uuids = checks.map(({ id }) => uuidOf(id));
  const bounds = boundsOf(uuids);
  const { rows } = await tx.query<RowAndText>(decideStatement, [
    ...toTextRows(
      checks.map(({ applicationId, codeLength, rightUnder, isTestCode }, index) => [
        uuids[index] ?? '',
        uuidOf(applicationId),
        codeLength,
        `{${rightUnder.join()}}`,
        isTestCode,
      ]),
    ),
    toTimestamp(nowMs),
    ...bounds,
    ...textRange(bounds),
  ]);
  return toVerificationsAndTexts(tx, rows);
}

/** A code of another length is always wrong. */
const right =
  '(v.code_length = k.code_length and case when test_number then k.is_test_code else ring_version = any(k.right_under) end)';
const isLast = 'attempts + 1 >= max_attempts';
const decideStatement = {
  name: 'decide-checks',
  text: `with k as materialized (
      select c[1]::uuid as id, c[2]::uuid as application_id, c[3]::smallint as code_length,
        c[4]::integer[] as right_under, c[5]::boolean as is_test_code
      from ${fromTextRows()} t),
    changed as (
      update verification v set
        status = case when ${right} then ${statusCode('approved')} when ${isLast} then ${statusCode('failed')} else status end,
        reason = case when ${right} then null when ${isLast} then ${reasonCode('max_attempts_reached')} end,
        attempts = attempts + case when ${right} then 0 else 1 end,
        approved_at = case when ${right} then $6::timestamptz end,
        updated_at = $6
      from k
      where ${isOneOf('$7', '$8')} and ${isOpen}
      returning ${recordColumns('v')}),
    ${endings('changed')}
    select ${verificationColumns('changed')}, ${text('changed')} from changed`,
};
