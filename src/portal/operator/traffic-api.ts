// Tests: test/contract/operator-totals.test.ts
import { type Static, Type } from 'typebox';
import { type Route, route } from '../../http/route.ts';
import { allRequestsBySteps } from '../../metering/usage-store.ts';
import { type Clock, hourMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readSubmitsBySteps } from '../../quality/minute-store.ts';

export interface TrafficRoutesOptions {
  database: Database;
  clock: Clock;
  /** Writes this node's counts, so that the reader sees the latest. */
  flush: () => Promise<void>;
}

const counts = {
  admitted: Type.Integer({ description: 'Requests within the limits' }),
  refused: Type.Integer({ description: 'Requests refused by a limit (429)' }),
  sent: Type.Integer({ description: 'Texts that a carrier accepted' }),
  throttled: Type.Integer({ description: 'Submits that a carrier deferred' }),
  in_doubt: Type.Integer({ description: 'Submits without a usable answer' }),
  rejected: Type.Integer({ description: 'Submits that a carrier refused' }),
};
const trafficSchema = Type.Object(
  {
    from: Type.String({ description: 'Where the first step begins' }),
    to: Type.String({ description: 'Where the last step ends' }),
    step_seconds: Type.Integer({ examples: [60] }),
    data: Type.Array(Type.Object({ at: Type.String(), ...counts }), { description: 'Oldest first' }),
  },
  { title: 'Traffic' },
);
export type TrafficRecord = Static<typeof trafficSchema>;

/** A chart has no room for more steps. */
const mostMinuteSteps = 60;

/** Throughput and errors of the whole service, for operators. */
export function createTrafficRoutes({ database, clock, flush }: TrafficRoutesOptions): Route[] {
  async function read(hours: number): Promise<TrafficRecord> {
    const stepMs = hours * 60 > mostMinuteSteps ? 5 * minuteMs : minuteMs;
    const toMs = (Math.floor(clock.nowMs() / stepMs) + 1) * stepMs;
    const span = { fromMs: toMs - hours * hourMs, toMs, stepMs };
    await flush();
    // In sequence, so that a request uses one connection at a time.
    const requests = new Map((await allRequestsBySteps(database, span)).map((row) => [row.step, row]));
    const submits = new Map((await readSubmitsBySteps(database, span)).map((row) => [row.step, row]));
    const first = span.fromMs / stepMs;
    const data = Array.from({ length: (toMs - span.fromMs) / stepMs }, (_, index) => {
      const { admitted = 0, refused = 0 } = requests.get(first + index) ?? {};
      const submitted = submits.get(first + index);
      const { sent = 0, throttled = 0, in_doubt = 0 } = submitted ?? {};
      const rejected = submitted === undefined ? 0 : submitted.refused + submitted.unavailable;
      return { at: toTimestamp(span.fromMs + index * stepMs), admitted, refused, sent, throttled, in_doubt, rejected };
    });
    return { from: toTimestamp(span.fromMs), to: toTimestamp(toMs), step_seconds: stepMs / 1000, data };
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/traffic',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'getTraffic',
      summary: 'Read the requests of all applications and what carriers answered, by step',
      description: 'Steps of a minute for one hour, else of five minutes. Nodes write their counts every few seconds.',
      query: Type.Object({
        hours: Type.Integer({ minimum: 1, maximum: 6, default: 1, expected: 'a whole number from 1 to 6' }),
      }),
      answers: { 200: { description: 'Every step of the last hours', schema: trafficSchema } },
      handler: async (call) => ({ status: 200, body: await read(call.query.hours) }),
    }),
  ];
}
