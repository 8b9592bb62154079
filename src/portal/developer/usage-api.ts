// Tests: test/contract/portal-usage.test.ts
import { type Static, Type } from 'typebox';
import { windowKeyOf } from '../../http/admission.ts';
import { nullable } from '../../http/list-page.ts';
import { exampleSpan } from '../../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { messagesBySteps } from '../../messages/message-usage-store.ts';
import { requestsBySteps } from '../../metering/usage-store.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalidField } from '../../platform/errors.ts';
import type { PlanService } from '../../registry/plan-service.ts';
import type { RegistryService } from '../../registry/registry-service.ts';
import type { PlanLimits } from '../../settings/settings.ts';
import { verificationsBySteps } from '../../verify/verification-usage-store.ts';
import { applicationParams } from './application-api.ts';
import { apiName } from './registration-api.ts';
import { coverSpan, type StepName, stepNames, steps, usageOf } from './usage.ts';

export interface UsageOptions {
  database: Database;
  clock: Clock;
  registry: RegistryService;
  plans: Pick<PlanService, 'read'>;
  /** Writes this node's counts, so that the reader sees the latest. */
  flush: () => Promise<void>;
  /** A registration's remaining quota; counts nothing. */
  quotaOf: (windowKey: string, limits: PlanLimits) => Promise<{ remaining: number; resetMs: number }>;
}

const countsSchema = {
  admitted: Type.Integer(),
  refused: Type.Integer({ description: 'Rate-limited (429)' }),
  messages: Type.Integer(),
  segments: Type.Integer(),
  verifications: Type.Integer(),
  approved: Type.Integer(),
};

const limitThen = nullable(
  Type.Integer({ description: 'The limit that applied then, in requests a minute; null without a request' }),
);

const usageSchema = Type.Object(
  {
    from: Type.String({ description: 'Where the first step begins', examples: ['2026-01-31T11:00:00.000Z'] }),
    to: Type.String({ description: 'Where the last step ends', examples: ['2026-01-31T12:00:00.000Z'] }),
    step: Type.Unsafe<StepName>({ type: 'string', enum: [...stepNames] }),
    data: Type.Array(
      Type.Object({
        api: apiName,
        plan: Type.String(),
        per_minute: Type.Integer(),
        burst: Type.Integer(),
        remaining: Type.Integer({ description: 'Requests left this minute' }),
        reset_seconds: Type.Integer(),
        totals: Type.Object(countsSchema),
        states: Type.Unsafe<Record<string, number>>({
          type: 'object',
          additionalProperties: { type: 'integer' },
          description:
            'Messages or verifications of the span by state. It is the current state of the newest, and may lag behind for ' +
            'older ones: they are counted again at an age of about 1 hour, 1 day, 4 days and 15 days.',
        }),
        steps: Type.Array(Type.Object({ at: Type.String(), per_minute: limitThen, ...countsSchema }), {
          description:
            'Oldest first. Steps of a minute that are older than 31 days hold the counts of a whole hour at its first minute ' +
            '(requests: older than 8 days).',
        }),
      }),
    ),
  },
  { title: 'Usage' },
);
export type UsageRecord = Static<typeof usageSchema>;

const time = (description: string, example: string) =>
  Type.String({
    maxLength: 35,
    format: 'date-time',
    description,
    examples: [example],
    expected: 'a time, like 2026-01-31T12:00:00Z',
  });

export function createUsageRoutes(options: UsageOptions): Route[] {
  const { database, clock, registry, plans, flush, quotaOf } = options;

  /** The requested span in whole steps; defaults to the last hour by the minute. */
  function readSpan(query: { from?: string; to?: string; step: StepName }) {
    const step = steps[query.step];
    const toMs = query.to === undefined ? clock.nowMs() : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - 60 * step.ms : Date.parse(query.from);
    if (fromMs > toMs) throw invalidField('from', 'must not be later than to');
    if (fromMs < 0 || toMs > clock.nowMs() + steps.day.ms * 366)
      throw invalidField('to', 'must be a time between 1970 and one year from now');
    if (toMs - fromMs > step.most * step.ms) {
      throw invalidField('from', `must be at most ${step.most} ${query.step}s before to; or choose a longer step`);
    }
    return { ...coverSpan(fromMs, Math.max(toMs, fromMs + 1), step), stepMs: step.ms };
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/usage',
      auth: { kind: 'developer' },
      tag: 'Developer portal: usage',
      operationId: 'getUsage',
      summary: 'Read the usage of an application per API and step, and its remaining quota',
      params: applicationParams,
      query: Type.Object({
        from: Type.Optional(time('At this time or later', exampleSpan.from)),
        to: Type.Optional(time('Before this time', exampleSpan.to)),
        step: Type.Unsafe<StepName>({
          type: 'string',
          enum: [...stepNames],
          default: 'minute',
          expected: `one of ${stepNames.join(', ')}`,
        }),
      }),
      answers: {
        200: {
          description:
            'One entry per API the application is registered for. Messages, segments, verifications and approvals are exact.',
          schema: usageSchema,
        },
      },
      handler: async (call) => {
        const { registrations } = await registry.requireApplication(requireDeveloper(call).accountId, call.params.id);
        const span = { applicationId: call.params.id, ...readSpan(call.query) };
        await flush();
        // In sequence, so that a request uses one connection at a time.
        const requests = await requestsBySteps(database, span);
        const nowMs = clock.nowMs();
        const messages = await messagesBySteps(database, span, nowMs);
        const verifications = await verificationsBySteps(database, span, nowMs);
        const data = registrations.map(async ({ api, plan }) => {
          const { perMinute, burst } = await plans.read(plan);
          const { remaining, resetMs } = await quotaOf(windowKeyOf(call.params.id, api), { perMinute, burst });
          const usage = usageOf(api, span, { requests, messages, verifications });
          return {
            api,
            plan,
            per_minute: perMinute,
            burst,
            remaining,
            reset_seconds: Math.ceil(resetMs / 1000),
            totals: usage.totals,
            states: usage.states,
            steps: usage.steps.map(({ atMs, perMinute: then, ...counts }) => ({
              at: toTimestamp(atMs),
              per_minute: then,
              ...counts,
            })),
          };
        });
        const { fromMs, toMs } = span;
        const body = {
          from: toTimestamp(fromMs),
          to: toTimestamp(toMs),
          step: call.query.step,
          data: await Promise.all(data),
        };
        return { status: 200, body };
      },
    }),
  ];
}
