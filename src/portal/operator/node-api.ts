// Tests: test/contract/operator-plans.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageSchema, recordId } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { SeenNode } from '../../registry/change-feed.ts';

export interface NodeRoutesOptions {
  recentNodes: () => Promise<SeenNode[]>;
}

const nodeSchema = Type.Object(
  {
    id: recordId('nod'),
    version: nullable(Type.String({ examples: ['1.4.0'] })),
    role: nullable(Type.String({ description: 'all, web or worker', examples: ['all'] })),
    started_at: nullable(Type.String()),
    seen_at: Type.String(),
    live: Type.Boolean({ description: 'False if it has not been seen for 5 seconds', examples: [true] }),
    answered: Type.Boolean({ description: 'Whether this node answered', examples: [true] }),
  },
  { title: 'Node' },
);
export type NodeRecord = Static<typeof nodeSchema>;

/** The processes of the service, for operators. */
export function createNodeRoutes({ recentNodes }: NodeRoutesOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/nodes',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'listNodes',
      summary: 'List the nodes, the oldest first',
      description: 'A node that is no longer seen is listed for another minute.',
      answers: { 200: { description: 'All of them', schema: pageSchema(nodeSchema) } },
      handler: async () => {
        const data = (await recentNodes()).map(({ id, version, role, startedAtMs, seenAtMs, live, own }) => ({
          ...{ id, version, role, live, answered: own },
          started_at: timestampOrNull(startedAtMs),
          seen_at: toTimestamp(seenAtMs),
        }));
        return { status: 200, body: { data, next_cursor: null } };
      },
    }),
  ];
}
