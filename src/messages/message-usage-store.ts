import { type Api, apiNames } from '../http/route.ts';
import { dayMs } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { floorTo, laterAgesMs, type SummedRecords, settledAfterMs } from '../platform/database/record-sums.ts';
import { readSums } from '../platform/database/record-sums-query.ts';
import type { Span } from '../platform/work/steps.ts';
import type { MessageStatus } from './message.ts';
import { nameOf, statusOf } from './message-row.ts';

export interface MessagesOfStep {
  api: Api;
  step: number;
  status: MessageStatus;
  count: number;
  segments: number;
}

/** A message's API and segments never change, so its counts are exact at once. */
export const summedMessages: SummedRecords = {
  records: 'message',
  sums: 'message_sum',
  groups: () => ({ api: 'api', status: 'status' }),
  amounts: { segments: 'segment_count' },
  agesMs: [settledAfterMs, ...laterAgesMs],
};

/** Counts texts, those of verifications included. The statuses of older texts are as of the latest sums. */
export async function messagesBySteps(tx: Tx, span: Span, nowMs: number): Promise<MessagesOfStep[]> {
  // The index of lists has the API before the id.
  const ofEachApi = `api in (${[...apiNames.keys()]})`;
  const rows = await readSums<{ api: number; status: number; segments: number }>(
    tx,
    summedMessages,
    span,
    nowMs,
    ofEachApi,
  );
  return rows.map((row) => ({ ...row, api: nameOf(apiNames, row.api), status: statusOf(row.status) }));
}

/** The segments of an application's texts since midnight UTC. */
export async function segmentsOfDay(tx: Tx, applicationId: string, nowMs: number): Promise<number> {
  const fromMs = floorTo(dayMs, nowMs);
  const day = { applicationId, fromMs, toMs: fromMs + dayMs, stepMs: dayMs };
  const steps = await messagesBySteps(tx, day, nowMs);
  return steps.reduce((sum, { segments }) => sum + segments, 0);
}
