import type { Api } from '../http/route.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';

export interface UsageSpan {
  applicationId: string;
  fromMs: number;
  /** Not itself in the span. */
  toMs: number;
  stepMs: number;
}

/** Which step a row belongs to, as the number of steps since 1970. */
interface Stepped {
  api: Api;
  step: number;
}

export interface RequestsOfStep extends Stepped {
  admitted: number;
  refused: number;
}

export async function requestsBySteps(tx: Tx, { applicationId, fromMs, toMs, stepMs }: UsageSpan) {
  const { rows } = await tx.query<RequestsOfStep>(
    `select api, ${stepOf('minute')} as step, sum(admitted) as admitted, sum(refused) as refused
     from usage_minute where application_id = $1 and minute >= $3 and minute < $4 group by 1, 2`,
    [applicationId, stepMs, toTimestamp(fromMs), toTimestamp(toMs)],
  );
  return rows;
}

export interface RecordsOfStep extends Stepped {
  status: string;
  count: number;
  segments: number;
}

/** Texts, those of verifications included. Ids sort by age, so a span is a range of ids. */
export async function messagesBySteps(tx: Tx, { applicationId, fromMs, toMs, stepMs }: UsageSpan) {
  const { rows } = await tx.query<RecordsOfStep>(
    `select api, ${stepOf('created_at')} as step, status, count(*) as count, sum(segment_count) as segments
     from message where application_id = $1 and api in ('sms', 'messaging', 'verify') and id >= $3 and id < $4
     group by 1, 2, 3`,
    [applicationId, stepMs, idFloor('msg', fromMs), idFloor('msg', toMs)],
  );
  return rows;
}

/** A verification that nobody came back to has expired, although its row does not say so yet. */
export async function verificationsBySteps(tx: Tx, span: UsageSpan, nowMs: number) {
  const { applicationId, fromMs, toMs, stepMs } = span;
  const { rows } = await tx.query<Omit<RecordsOfStep, 'api' | 'segments'>>(
    `select ${stepOf('created_at')} as step,
       case when status = 'pending' and expires_at <= $5 then 'expired' else status end as status, count(*) as count
     from verification where application_id = $1 and id >= $3 and id < $4 group by 1, 2`,
    [applicationId, stepMs, idFloor('ver', fromMs), idFloor('ver', toMs), toTimestamp(nowMs)],
  );
  return rows;
}

function stepOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000 / $2)::bigint`;
}
