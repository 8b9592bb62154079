// Tests: test/contract/spend.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import { nullable, pathParameter, recordId } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import { beginSpend, dayOf, noteLimit, readSegmentsToday } from '../../messages/spend-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { isLimitBegun, type LimitChange, type SendingService } from '../../registry/sending-service.ts';
import type { ApplicationLimits } from '../../registry/sending-store.ts';

export interface SpendRoutesOptions {
  database: Database;
  clock: Clock;
  sending: SendingService;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

export const segments = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    examples: [1000],
    expected: 'a whole number from 0 to 1000000000, or null',
  }),
);

export const callCountries = Type.Array(Type.String({ maxLength: 2, expected: 'a country code like GB' }), {
  maxItems: 300,
  expected: 'a list of country codes',
  description: 'Where it may send codes by voice; production allows none at first',
});

const limitsBody = Type.Object(
  { segments_per_day: Type.Optional(segments), call_countries: Type.Optional(callCountries) },
  { title: 'LimitsToSet', examples: [{ segments_per_day: 1000 }], check: checkLimits },
);

function checkLimits({ segments_per_day, call_countries }: Record<string, unknown>): FieldProblem[] {
  if (segments_per_day === undefined && call_countries === undefined)
    return [{ field: 'segments_per_day', message: 'or call_countries is required' }];
  return checkCallCountries({ call_countries });
}

export function checkCallCountries({ call_countries }: Record<string, unknown>): FieldProblem[] {
  if (!Array.isArray(call_countries)) return [];
  return call_countries.flatMap((code, index) =>
    typeof code !== 'string' || isCountry(code.toUpperCase())
      ? []
      : [{ field: `call_countries/${index}`, message: 'must be a country code of two letters, like GB' }],
  );
}

const applicationSchema = Type.Object(
  {
    id: recordId('app'),
    name: Type.String(),
    high_priority: Type.Boolean(),
    segments_per_day: nullable(
      Type.Integer({ description: 'Set for this application; null for the limit of its plan' }),
    ),
    call_countries: Type.Array(Type.String({ examples: ['GB'] }), {
      description: 'Where it may send codes by voice; in the sandbox everywhere',
    }),
    segments_limit: nullable(Type.Integer({ description: 'The limit in effect; null for no limit' })),
    segments_today: Type.Integer({ description: 'Since midnight UTC' }),
  },
  { title: 'ApplicationLimits' },
);
const spendSchema = Type.Object(
  {
    day: Type.String({ description: 'By UTC' }),
    segments: Type.Integer({ description: 'Since midnight UTC' }),
    segments_per_day: nullable(Type.Integer({ description: 'null for no limit' })),
  },
  { title: 'Spend' },
);
export type LimitedApplicationRecord = Static<typeof applicationSchema>;
export type SpendRecord = Static<typeof spendSchema>;

/** Segments a day of applications (section 14 of the contract). */
export function createSpendRoutes(options: SpendRoutesOptions, audit: Audit): Route[] {
  const { sending } = options;
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const path = '/portal/v1/operator/applications/{id}';
  const params = Type.Object({ id: pathParameter });
  const body = limitsBody;
  const found = { 200: { description: 'The application', schema: applicationSchema } };
  const shown = async (application: Awaited<ReturnType<SendingService['requireApplication']>>) => ({
    status: 200,
    body: await toApplication(application, options),
  });
  return [
    route({
      method: 'GET',
      path,
      ...shared,
      operationId: 'getApplicationLimits',
      summary: 'Read the segments that an application may send, and has sent today',
      params,
      answers: found,
      handler: async (call) => shown(await sending.requireApplication(call.params.id)),
    }),
    route({
      method: 'PATCH',
      path,
      ...shared,
      operationId: 'changeApplicationLimits',
      summary: 'Set the segments a day of an application, and where it may call',
      description: 'null sets the limit of its plan, 0 stops it.',
      params,
      body,
      answers: found,
      handler: async (call) => {
        const { segments_per_day, call_countries } = call.body;
        const limits = {
          segmentsPerDay: segments_per_day,
          callCountries: call_countries && inCapitals(call_countries),
        };
        const { database, clock } = options;
        const note = audit.note(call, limitsChanged(call.params.id, limits));
        const noteAndCount = async (tx: Tx, change: LimitChange) => {
          await note(tx, change);
          if (isLimitBegun(change)) await beginSpend(tx, call.params.id, change.after ?? 0, clock.nowMs());
        };
        const application = await sending.setLimits(call.params.id, limits, noteAndCount);
        await countLimit(database, application, clock.nowMs());
        return shown(application);
      },
    }),
    ownSpendRoute(options),
  ];
}

/** Counts spend by a changed limit, once all nodes know the limit. */
export async function countLimit(
  database: Database,
  { id, limit, isLimitBegun }: Awaited<ReturnType<SendingService['setLimits']>>,
  nowMs: number,
): Promise<void> {
  if (limit === null) return;
  if (isLimitBegun) await database.transaction((tx) => beginSpend(tx, id, limit, nowMs));
  else await noteLimit(database, id, limit, nowMs);
}

/** Codes in upper case, without repetitions. */
export function inCapitals(countries: readonly string[]): string[] {
  return [...new Set(countries.map((code) => code.toUpperCase()))];
}

export function limitsChanged(id: string, { segmentsPerDay, callCountries }: ApplicationLimits): AuditEntry {
  const details = {
    ...(segmentsPerDay !== undefined && { segments_per_day: segmentsPerDay }),
    ...(callCountries && { call_countries: callCountries.join(', ') }),
  };
  return { act: 'application.limit_changed', id, details };
}

async function toApplication(
  application: Awaited<ReturnType<SendingService['requireApplication']>>,
  { database, clock }: SpendRoutesOptions,
) {
  const { id, name, highPriority, segmentsPerDay, callCountries, limit } = application;
  return {
    ...{ id, name, high_priority: highPriority, segments_per_day: segmentsPerDay, segments_limit: limit },
    call_countries: callCountries,
    segments_today: await readSegmentsToday(database, id, limit, clock.nowMs()),
  };
}

function ownSpendRoute({ database, clock, sending, requireOwn }: SpendRoutesOptions): Route {
  return route({
    method: 'GET',
    path: '/portal/v1/applications/{id}/spend',
    auth: { kind: 'developer' },
    tag: 'Developer portal: applications',
    operationId: 'getSpend',
    summary: 'Read how many segments an application has sent today, and may send',
    params: Type.Object({ id: pathParameter }),
    answers: { 200: { description: 'The day so far', schema: spendSchema } },
    handler: async (call) => {
      const { id } = call.params;
      await requireOwn(requireDeveloper(call).accountId, id);
      const { limit } = await sending.requireApplication(id);
      const nowMs = clock.nowMs();
      const segments = await readSegmentsToday(database, id, limit, nowMs);
      return { status: 200, body: { day: dayOf(nowMs), segments, segments_per_day: limit } };
    },
  });
}
