// Tests: test/contract/guard-conversion.test.ts
import { type Static, Type } from 'typebox';
import { recordId } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readBlockedByRule, readMostBlocked } from '../../quality/blocked-start-store.ts';
import { readNames } from '../../registry/registry-store.ts';
import type { Guard, RuleInForce } from '../../verify/guard.ts';

export interface GuardRuleOptions {
  database: Database;
  clock: Clock;
  currentGuard: () => Guard | Promise<Guard>;
  /** Rules that stand outside the guard. */
  further: readonly RuleInForce[];
}

const rulesSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        rule: Type.String({ examples: ['prefix_velocity'] }),
        limit: Type.Unsafe<string | number | string[] | null>({
          description: 'The value of the setting; null if the rule has no number or list',
          examples: [50],
        }),
        active: Type.Boolean({ description: 'False if the settings allow everything', examples: [true] }),
        blocked_today: Type.Integer({ description: 'Starts, by day (UTC), counted about 10 minutes later' }),
        blocked_7_days: Type.Integer(),
        blocked_30_days: Type.Integer(),
      }),
      { description: 'In the order in which they decide' },
    ),
    applications: Type.Array(
      Type.Object({
        application_id: recordId('app'),
        application_name: Type.String(),
        rule: Type.String({ examples: ['prefix_velocity'] }),
        blocked: Type.Integer({ examples: [312] }),
      }),
      { description: 'Applications with the most blocked starts of the last 7 days' },
    ),
  },
  { title: 'GuardRules' },
);
export type GuardRulesRecord = Static<typeof rulesSchema>;

const mostApplications = 50;

/** The guard's rules and the number of starts that they blocked, for operators. */
export function createGuardRuleRoutes({ database, clock, currentGuard, further }: GuardRuleOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/guard-rules',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'listGuardRules',
      summary: "Read the guard's rules, and how many starts each blocked",
      answers: { 200: { description: 'Every rule', schema: rulesSchema } },
      handler: async () => {
        const nowMs = clock.nowMs();
        const blocked = new Map((await readBlockedByRule(database, nowMs)).map((row) => [row.rule, row]));
        const most = await readMostBlocked(database, nowMs, mostApplications);
        const names = await readNames(database, [...new Set(most.map(({ applicationId }) => applicationId))]);
        const body = {
          data: [...(await currentGuard()).inForce, ...further].map(({ rule, limit, active }) => {
            const { today = 0, sevenDays = 0, thirtyDays = 0 } = blocked.get(rule) ?? {};
            return {
              ...{ rule, limit, active },
              ...{ blocked_today: today, blocked_7_days: sevenDays, blocked_30_days: thirtyDays },
            };
          }),
          applications: most.map(({ applicationId, rule, blocked }) => ({
            ...{ application_id: applicationId, application_name: names.get(applicationId) ?? '' },
            ...{ rule, blocked },
          })),
        };
        return { status: 200, body };
      },
    }),
  ];
}
