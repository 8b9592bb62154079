// Tests: test/contract/analytics.test.ts
import { Type } from 'typebox';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type AnalyticsGroup, analyticsGroups, readAnalytics } from '../../quality/analytics/read.ts';
import { analyticsDescription, analyticsSchema, spanQuery, toAnalytics } from '../developer/analytics-record.ts';

export interface AnalyticsRoutesOptions {
  database: Database;
  clock: Clock;
}

const query = Type.Object({
  span: spanQuery,
  by: Type.Unsafe<AnalyticsGroup>({
    type: 'string',
    enum: [...analyticsGroups],
    default: 'country',
    expected: `one of ${analyticsGroups.join(', ')}`,
  }),
});

/** Outcomes of all texts and verifications over time, for operators. */
export function createAnalyticsRoutes({ database, clock }: AnalyticsRoutesOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/analytics',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'getAnalytics',
      summary:
        'Read delivered share, seconds to the phone and conversion by country, carrier, sender or channel, and by step',
      description: analyticsDescription,
      query,
      answers: { 200: { description: 'Every step of the span', schema: analyticsSchema } },
      handler: async (call) => {
        const { span, by } = call.query;
        const found = await readAnalytics(database, { span, by, nowMs: clock.nowMs() });
        return { status: 200, body: toAnalytics(found, span, by) };
      },
    }),
  ];
}
