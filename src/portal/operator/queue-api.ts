// Tests: test/contract/operator-deliveries.test.ts
import { type Static, Type } from 'typebox';
import { type CarrierQueue, readQueueReport } from '../../delivery/queue/report.ts';
import { nullable, pageSchema } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';

export interface QueueRoutesOptions {
  database: Database;
  clock: Clock;
}

const queueSchema = Type.Object(
  {
    carrier: Type.String({ examples: ['acme'] }),
    waiting: Type.Integer({ description: 'Due and not sent; 10,000 means 10,000 or more, here and below' }),
    retrying: Type.Integer({ description: 'Due texts that were tried before' }),
    scheduled: Type.Integer({ description: 'To be sent later' }),
    sending: Type.Integer({ description: 'Submitted, and not answered yet' }),
    stuck: Type.Integer({ description: 'Due for more than a minute' }),
    in_doubt: Type.Integer({ description: 'Submitted without an answer: they may have been sent' }),
    oldest_seconds: nullable(Type.Integer({ description: 'How long the oldest has been due' })),
    ages: Type.Object(
      {
        under_10_seconds: Type.Integer(),
        under_1_minute: Type.Integer(),
        under_10_minutes: Type.Integer(),
        older: Type.Integer(),
      },
      { description: 'Waiting texts by the time since they were due' },
    ),
  },
  { title: 'CarrierQueue' },
);
export type QueueRecord = Static<typeof queueSchema>;

/** Texts that wait for each carrier, for operators. */
export function createQueueRoutes({ database, clock }: QueueRoutesOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/queue',
      auth: { kind: 'operator' },
      tag: 'Developer portal: carriers',
      operationId: 'getQueue',
      summary: 'Count the texts that wait, are stuck or are in doubt, by carrier and age',
      answers: { 200: { description: 'One row for each carrier with texts', schema: pageSchema(queueSchema) } },
      handler: async () => {
        const nowMs = clock.nowMs();
        const data = (await readQueueReport(database, nowMs)).map((queue) => toRecord(queue, nowMs));
        return { status: 200, body: { data, next_cursor: null } };
      },
    }),
  ];
}

function toRecord(queue: CarrierQueue, nowMs: number): QueueRecord {
  const { carrier, waiting, retrying, scheduled, sending, stuck, inDoubt, oldestAtMs } = queue;
  return {
    ...{ carrier, waiting, retrying, scheduled, sending, stuck, in_doubt: inDoubt },
    oldest_seconds: oldestAtMs === null ? null : Math.max(0, Math.floor((nowMs - oldestAtMs) / 1000)),
    ages: {
      under_10_seconds: queue.under10s,
      under_1_minute: queue.under1m,
      under_10_minutes: queue.under10m,
      older: queue.older,
    },
  };
}
