// Tests: test/contract/operator-now.test.ts
import { type Static, Type } from 'typebox';
import { type Route, route } from '../../http/route.ts';
import type { Database } from '../../platform/database/database.ts';
import { countOpenAlerts } from '../../quality/alerts/open-count.ts';

const countSchema = Type.Object(
  { open: Type.Integer({ examples: [2], description: '1,000 means 1,000 or more' }) },
  { title: 'AlertCount' },
);
export type AlertCountRecord = Static<typeof countSchema>;

/** The number in the top bar of every page of an operator: one small request. */
export function createAlertCountRoutes({ database }: { database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/alerts/count',
      auth: { kind: 'operator' },
      tag: 'Developer portal: carriers',
      operationId: 'countAlerts',
      summary: 'Count the open alerts',
      answers: { 200: { description: 'The number of open alerts', schema: countSchema } },
      handler: async () => ({ status: 200, body: { open: await countOpenAlerts(database) } }),
    }),
  ];
}
