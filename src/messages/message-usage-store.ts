import type { Api } from '../http/route.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import { type Span, stepOf } from '../platform/steps.ts';

export interface MessagesOfStep {
  api: Api;
  step: number;
  status: string;
  count: number;
  segments: number;
}

/** Counts texts, those of verifications included. Ids sort by age, so a time span is a range of ids. */
export async function messagesBySteps(
  tx: Tx,
  { applicationId, fromMs, toMs, stepMs }: Span,
): Promise<MessagesOfStep[]> {
  const { rows } = await tx.query<MessagesOfStep>(
    `select api, ${stepOf('created_at')} as step, status, count(*) as count, sum(segment_count) as segments
     from message where application_id = $1 and api in ('sms', 'messaging', 'verify') and id >= $3 and id < $4
     group by 1, 2, 3`,
    [applicationId, stepMs, idFloor('msg', fromMs), idFloor('msg', toMs)],
  );
  return rows;
}
