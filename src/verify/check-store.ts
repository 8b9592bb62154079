import { toTimestamp } from '../platform/clock.ts';
import type { Statement, Tx } from '../platform/database/database.ts';
import { fromTextRows, toTextRows } from '../platform/database/text-rows.ts';
import { uuidOf } from '../platform/ids.ts';
import { newestText, type RowAndText, textRange, toVerificationsAndTexts } from './texts/newest-texts.ts';
import { reasonCode, recordColumns, statusCode, verificationColumns } from './verification-row.ts';
import { boundsOf, endings, isOneOf, isPending } from './verification-store.ts';

export interface CheckRow {
  id: string;
  applicationId: string;
  codeLength: number;
  /** The ring versions under which the code is right. */
  rightUnder: number[];
  isTestCode: boolean;
  /**
   * The check is right only if the row has this payment, as stored; null for none. A repeated check that named none
   * gets the row's own.
   */
  payment: string | null;
  /** The hashes of the code, if it is one that the caller made. */
  hashes: string[];
}

// A check that names another payment, or none, changes nothing: `checks.ts` then reads what the row has.
const isOpen = `v.application_id = k.application_id and v.${isPending} and v.expires_at > $6
      and v.payment is not distinct from k.payment and v.inbound is null`;
const text = (table: string) => newestText(table, '$9', '$10');
const given = `k as materialized (
      select c[1]::uuid as id, c[2]::uuid as application_id, c[3]::smallint as code_length,
        c[4]::integer[] as right_under, c[5]::boolean as is_test_code, c[6]::bytea[] as hashes,
        c[7] as payment
      from ${fromTextRows()} t)`;

/** Most wrong codes leave tries: this statement omits the writes that end a verification, and takes a third less time. */
const spendStatement = {
  name: 'spend-tries',
  text: `with ${given}
    update verification v set attempts = attempts + 1, updated_at = $6
    from k
    where ${isOneOf('$7', '$8')} and ${isOpen} and attempts + 1 < max_attempts
      and (v.code_hash is null or v.code_hash <> all(k.hashes))
    returning ${verificationColumns('v')}, ${text('v')}`,
};

/** A code of another length is always wrong. */
const right = `(v.code_length = k.code_length and case when v.code_hash is not null then v.code_hash = any(k.hashes)
    when test_number then k.is_test_code else ring_version = any(k.right_under) end)`;
const isLast = 'attempts + 1 >= max_attempts';
const decideStatement = {
  name: 'decide-checks',
  text: `with ${given},
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

const decideBy = (statement: Statement) => async (tx: Tx, checks: CheckRow[], nowMs: number) => {
  const uuids = checks.map(({ id }) => uuidOf(id));
  const bounds = boundsOf(uuids);
  const { rows } = await tx.query<RowAndText>(statement, [
    ...toTextRows(
      checks.map(({ applicationId, codeLength, rightUnder, isTestCode, hashes, payment }, index) => [
        uuids[index] ?? '',
        uuidOf(applicationId),
        codeLength,
        `{${rightUnder.join()}}`,
        isTestCode,
        toArray(hashes),
        payment,
      ]),
    ),
    toTimestamp(nowMs),
    ...bounds,
    ...textRange(bounds),
  ]);
  return toVerificationsAndTexts(tx, rows);
};

/**
 * Decides all checks in one statement. The code has been compared already, so the statement only tests that the
 * verification is still open; a check that changes no row came too late.
 */
export const decideChecks = decideBy(decideStatement);

/**
 * Counts wrong codes that leave tries. It changes no row if the verification has ended or has one try left, or if the
 * caller made the code and it is right.
 */
export const spendTries = decideBy(spendStatement);

/** A backslash is doubled within quotes. */
function toArray(hashes: string[]): string {
  return `{${hashes.map((hash) => `"\\${hash}"`).join()}}`;
}
