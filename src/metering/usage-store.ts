import type { Api } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { type Span, stepOf } from '../platform/work/steps.ts';

export interface RequestsOfStep {
  api: Api;
  step: number;
  admitted: number;
  refused: number;
  /** The highest limit that applied in the step. */
  perMinute: number;
}

export async function requestsBySteps(
  tx: Tx,
  { applicationId, fromMs, toMs, stepMs }: Span,
): Promise<RequestsOfStep[]> {
  const { rows } = await tx.query<RequestsOfStep>(
    `select api, ${stepOf('minute')} as step, sum(admitted) as admitted, sum(refused) as refused,
       max(per_minute) as "perMinute"
     from usage_minute where application_id = $1 and minute >= $3 and minute < $4 group by 1, 2`,
    [applicationId, stepMs, toTimestamp(fromMs), toTimestamp(toMs)],
  );
  return rows;
}

/** Read at most this many rows: the newest minutes of some thousand registrations on some nodes. */
const mostRead = 500_000;

/** The requests of all applications, by step. */
export async function allRequestsBySteps(
  tx: Tx,
  { fromMs, toMs, stepMs }: Omit<Span, 'applicationId'>,
): Promise<Omit<RequestsOfStep, 'api' | 'perMinute'>[]> {
  const { rows } = await tx.query<Omit<RequestsOfStep, 'api' | 'perMinute'>>(
    `select ${stepOf('minute')} as step, sum(admitted) as admitted, sum(refused) as refused from (
       select minute, admitted, refused from usage_minute where boot <> '' and minute >= $1 and minute < $3
       order by minute desc limit $4) newest
     group by 1`,
    [toTimestamp(fromMs), stepMs, toTimestamp(toMs), mostRead],
  );
  return rows;
}

export interface RequestsOf {
  applicationId: string;
  admitted: number;
  refused: number;
}

/** Requests of these applications since a time. */
export async function requestsSince(tx: Tx, applicationIds: string[], fromMs: number): Promise<RequestsOf[]> {
  const { rows } = await tx.query<RequestsOf>(
    `select application_id as "applicationId", sum(admitted) as admitted, sum(refused) as refused
     from usage_minute where application_id = any($1) and minute >= $2 group by 1`,
    [applicationIds, toTimestamp(fromMs)],
  );
  return rows;
}
