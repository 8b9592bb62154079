// Tests: test/contract/analytics.test.ts
import { Type } from 'typebox';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readAnalytics } from '../../quality/analytics/read.ts';
import { analyticsDescription, analyticsSchema, spanQuery, toAnalytics } from './analytics-record.ts';
import { applicationParams } from './application-api.ts';

export interface DeveloperAnalyticsOptions {
  database: Database;
  clock: Clock;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const groups = ['country', 'channel'] as const;
const groupQuery = Type.Unsafe<(typeof groups)[number]>({
  type: 'string',
  enum: [...groups],
  default: 'country',
  expected: `one of ${groups.join(', ')}`,
});

/** Outcomes of an application's texts and verifications over time. The answers name no carrier. */
export function createDeveloperAnalyticsRoutes({ database, clock, requireOwn }: DeveloperAnalyticsOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/analytics',
      auth: { kind: 'developer' },
      tag: 'Developer portal: usage',
      operationId: 'getApplicationAnalytics',
      summary:
        'Read delivered share, seconds to the phone and conversion of an application, by country or channel and step',
      description: analyticsDescription,
      params: applicationParams,
      query: Type.Object({ span: spanQuery, by: groupQuery }),
      answers: { 200: { description: 'Every step of the span', schema: analyticsSchema } },
      handler: async (call) => {
        const { id: applicationId } = call.params;
        await requireOwn(requireDeveloper(call).accountId, applicationId);
        const { span, by } = call.query;
        const found = await readAnalytics(database, { span, by, applicationId, nowMs: clock.nowMs() });
        return { status: 200, body: toAnalytics(found, span, by) };
      },
    }),
  ];
}
