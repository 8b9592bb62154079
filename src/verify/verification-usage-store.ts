import type { Tx } from '../platform/database/database.ts';
import { laterAgesMs, type SummedRecords, settledAfterMs } from '../platform/database/record-sums.ts';
import { readSums } from '../platform/database/record-sums-query.ts';
import type { Span } from '../platform/work/steps.ts';
import { longestTtlSeconds } from './verification.ts';
import { statusCode, statusOf } from './verification-row.ts';
import { isPending } from './verification-store.ts';

export interface VerificationsOfStep {
  step: number;
  status: string;
  count: number;
}

/**
 * A lapsed pending verification counts as expired, even if its row does not show it yet, and one with an outcome as that.
 * Verifications are summed when they can no longer be approved.
 */
export const summedVerifications: SummedRecords = {
  records: 'verification',
  sums: 'verification_sum',
  groups: (time) => ({
    status: `coalesce(outcome, case when ${isPending} and expires_at <= ${time} then ${statusCode('expired')} else status end)`,
  }),
  amounts: {},
  agesMs: [longestTtlSeconds * 1000 + settledAfterMs, ...laterAgesMs],
};

export async function verificationsBySteps(tx: Tx, span: Span, nowMs: number): Promise<VerificationsOfStep[]> {
  const rows = await readSums<{ status: number }>(tx, summedVerifications, span, nowMs);
  return rows.map((row) => ({ ...row, status: statusOf(row.status) }));
}
