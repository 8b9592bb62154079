import type { Api } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { type Span, stepOf } from '../platform/steps.ts';

export interface RequestsOfStep {
  api: Api;
  step: number;
  admitted: number;
  refused: number;
}

export async function requestsBySteps(
  tx: Tx,
  { applicationId, fromMs, toMs, stepMs }: Span,
): Promise<RequestsOfStep[]> {
  const { rows } = await tx.query<RequestsOfStep>(
    `select api, ${stepOf('minute')} as step, sum(admitted) as admitted, sum(refused) as refused
     from usage_minute where application_id = $1 and minute >= $3 and minute < $4 group by 1, 2`,
    [applicationId, stepMs, toTimestamp(fromMs), toTimestamp(toMs)],
  );
  return rows;
}
