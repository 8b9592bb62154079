// Tests: test/contract/operator-plans.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import { findPerson } from '../../accounts/people/person-store.ts';
import { nullable, pageSchema, pathParameter } from '../../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../../http/route.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type FieldProblem, notFound } from '../../platform/errors.ts';
import { planNames } from '../../registry/application.ts';
import type { Changed, CurrentPlan, PlanService } from '../../registry/plan-service.ts';
import type { PlanName } from '../../settings/settings.ts';
import { segments } from './spend-api.ts';

export interface PlanRoutesOptions {
  database: Database;
  plans: PlanService;
  audit: Audit;
}

const count = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000, description, expected: 'a whole number from 1 to 1000000' });
export const perMinute = count('Requests a minute');
export const burst = count('Requests at once');

const planSchema = Type.Object(
  {
    plan: Type.String({ examples: ['free'] }),
    version: Type.Integer({ description: '0 while the settings define it', examples: [1] }),
    per_minute: Type.Integer({ examples: [60] }),
    burst: Type.Integer({ examples: [60] }),
    segments_per_day: nullable(Type.Integer({ description: 'null for no limit', examples: [1000] })),
  },
  { title: 'PlanLimits' },
);
export type LimitedPlanRecord = Static<typeof planSchema>;

const versionSchema = Type.Object(
  {
    ...planSchema.properties,
    created_at: Type.String(),
    created_by: Type.String({ description: 'The operator', examples: ['operator@example.com'] }),
  },
  { title: 'PlanVersion' },
);
export type PlanVersionRecord = Static<typeof versionSchema>;

const replaceBody = Type.Object(
  {
    version: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 2, examples: [1], expected: 'the version that was read' }),
    per_minute: perMinute,
    burst,
    segments_per_day: segments,
  },
  { title: 'PlanToSet' },
);
const changeBody = Type.Object(
  {
    per_minute: Type.Optional(perMinute),
    burst: Type.Optional(burst),
    segments_per_day: Type.Optional(segments),
  },
  { title: 'PlanChange', examples: [{ segments_per_day: 1000 }], check: checkChange },
);

/** Plans, for operators. */
export function createPlanRoutes({ database, plans, audit }: PlanRoutesOptions): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const path = '/portal/v1/operator/plans';
  const params = Type.Object({ plan: pathParameter });
  const found = { 200: { description: 'The plan', schema: planSchema } };
  const shown = async (plan: Promise<CurrentPlan>) => ({ status: 200, body: toPlan(await plan) });
  const emailOf = async (call: Call) => (await findPerson(database, requireDeveloper(call).personId))?.email ?? '';
  return [
    route({
      method: 'GET',
      path,
      ...shared,
      operationId: 'listPlans',
      summary: 'List the plans',
      answers: { 200: { description: 'All of them', schema: pageSchema(planSchema) } },
      handler: async () => ({ status: 200, body: { data: (await plans.list()).map(toPlan), next_cursor: null } }),
    }),
    route({
      method: 'GET',
      path: `${path}/{plan}`,
      ...shared,
      operationId: 'getPlan',
      summary: 'Read a plan',
      params,
      answers: found,
      handler: (call) => shown(plans.read(requirePlan(call.params.plan))),
    }),
    route({
      method: 'GET',
      path: `${path}/{plan}/versions`,
      ...shared,
      operationId: 'listPlanVersions',
      summary: 'List the versions of a plan, newest first',
      params,
      answers: { 200: { description: 'The newest 100', schema: pageSchema(versionSchema) } },
      handler: async (call) => {
        const plan = requirePlan(call.params.plan);
        const data = (await plans.listVersions(plan)).map(({ createdAtMs, createdBy, ...version }) => ({
          ...toPlan({ plan, ...version }),
          created_at: toTimestamp(createdAtMs),
          created_by: createdBy,
        }));
        return { status: 200, body: { data, next_cursor: null } };
      },
    }),
    route({
      method: 'PUT',
      path: `${path}/{plan}`,
      ...shared,
      operationId: 'replacePlan',
      summary: 'Write the next version of a plan',
      description:
        'Takes the version that was read; an older one is refused (409). It takes effect on every node before the answer.',
      params,
      body: replaceBody,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The plan has been changed since this version' },
      handler: async (call) => {
        const plan = requirePlan(call.params.plan);
        const { version, per_minute, burst, segments_per_day } = call.body;
        const numbers = { perMinute: per_minute, burst, segmentsPerDay: segments_per_day };
        return shown(plans.replace(plan, version, numbers, await emailOf(call), audit.note(call, planChanged)));
      },
    }),
    route({
      method: 'PATCH',
      path: `${path}/{plan}`,
      ...shared,
      operationId: 'changePlan',
      summary: 'Change single limits of a plan',
      description:
        'Writes the next version. It applies to every application without a limit of its own; null segments set no limit.',
      params,
      body: changeBody,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'Others are changing the plan at the same time' },
      handler: async (call) => {
        const plan = requirePlan(call.params.plan);
        const { per_minute, burst, segments_per_day } = call.body;
        const given = { perMinute: per_minute, burst, segmentsPerDay: segments_per_day };
        return shown(plans.change(plan, given, await emailOf(call), audit.note(call, planChanged)));
      },
    }),
  ];
}

/** The entry in the audit log. */
export function planChanged({ before, after }: Changed): AuditEntry {
  return { act: 'plan.changed', id: after.plan, details: { from: toPlan(before), to: toPlan(after) } };
}

function requirePlan(text: string): PlanName {
  const plan = planNames.find((name) => name === text.toLowerCase());
  if (plan === undefined) throw notFound();
  return plan;
}

function checkChange(body: Record<string, unknown>): FieldProblem[] {
  return Object.values(body).some((value) => value !== undefined)
    ? []
    : [{ field: 'segments_per_day', message: 'or per_minute or burst is required: there is nothing to change' }];
}

function toPlan({ plan, version, perMinute, burst, segmentsPerDay }: CurrentPlan) {
  return { plan, version, per_minute: perMinute, burst, segments_per_day: segmentsPerDay };
}
