import type { Api } from '../http/route.ts';
import type { Tx } from '../platform/database.ts';
import { uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Span, stepOf } from '../platform/steps.ts';
import { apiNames, type MessageStatus } from './message.ts';
import { statusOf } from './message-row.ts';

export interface MessagesOfStep {
  api: Api;
  step: number;
  status: MessageStatus;
  count: number;
  segments: number;
}

/** Counts texts, those of verifications included. Ids sort by age, so a time span is a range of ids. */
export async function messagesBySteps(
  tx: Tx,
  { applicationId, fromMs, toMs, stepMs }: Span,
): Promise<MessagesOfStep[]> {
  const { rows } = await tx.query<Omit<MessagesOfStep, 'api' | 'status'> & { api: number; status: number }>(
    `select api, ${stepOf('created_at')} as step, status, count(*) as count, sum(segment_count) as segments
     from message where application_id = $1 and api in (0, 1, 2) and id >= $3 and id < $4
     group by 1, 2, 3`,
    [uuidOf(applicationId), stepMs, uuidFloor(fromMs), uuidFloor(toMs)],
  );
  return rows.map((row) => ({ ...row, api: apiNames[row.api] ?? 'sms', status: statusOf(row.status) }));
}
