import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Span, stepOf } from '../platform/steps.ts';
import { statusCode, statusOf } from './verification-row.ts';

export interface VerificationsOfStep {
  step: number;
  status: string;
  count: number;
}

/** A lapsed pending verification counts as expired, even if its row does not say so yet. */
export async function verificationsBySteps(tx: Tx, span: Span, nowMs: number): Promise<VerificationsOfStep[]> {
  const { applicationId, fromMs, toMs, stepMs } = span;
  const { rows } = await tx.query<{ step: number; status: number; count: number }>(
    `select ${stepOf('created_at')} as step, case when status = ${statusCode('pending')} and expires_at <= $5
         then ${statusCode('expired')} else status end as status, count(*) as count
     from verification where application_id = $1 and id >= $3 and id < $4 group by 1, 2`,
    [uuidOf(applicationId), stepMs, uuidFloor(fromMs), uuidFloor(toMs), toTimestamp(nowMs)],
  );
  return rows.map((row) => ({ ...row, status: statusOf(row.status) }));
}
