// Tests: test/contract/portal-requests.test.ts
import { type Static, Type } from 'typebox';
import { fieldProblemSchema } from '../../http/error-reply.ts';
import {
  nullable,
  type PageRequest,
  pageQuery,
  pageSchema,
  pathParameter,
  readPage,
  recordId,
  toPage,
} from '../../http/list-page.ts';
import { type Api, apiNames, type Route, requireDeveloper, route } from '../../http/route.ts';
import { type TimelineEvent, timelineSchema, toTimeline } from '../../http/timeline.ts';
import { listTraces, type RequestTrace } from '../../metering/metering-store.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { idTimeMs } from '../../platform/ids.ts';
import type { RegistryService } from '../../registry/registry-service.ts';
import { applicationParams } from './application-api.ts';
import { findNumbersOf } from './record-numbers.ts';
import { readIdSpan, readWithin, spanQuery } from './record-span.ts';
import { countRecords, totalSchema } from './record-total.ts';
import { apiName } from './registration-api.ts';
import { calledPath, type SentFrom, sentFrom } from './try-api.ts';

export interface RequestRecord {
  type: 'message' | 'verification';
  id: string;
  status: string;
}

type Kept = Pick<RequestTrace, 'applicationId' | 'api' | 'method' | 'path' | 'status' | 'code' | 'message' | 'details'>;

/** Everything known about a request. Null: no longer known. */
export interface RequestStory extends Kept {
  outcome: string | null;
  correlationId: string;
  durationMs: number | null;
  limits: {
    admitted: boolean;
    limit: number | null;
    remaining: number | null;
    retryAfterSeconds: number | null;
    refusedBy: string | null;
  };
  records: RequestRecord[];
  /** Null unless it was sampled. */
  traceId: string | null;
  timeline: TimelineEvent[];
}

export interface RequestRoutesOptions {
  database: Database;
  clock: Clock;
  registry: RegistryService;
  findStory: (accountId: string, correlationId: string) => Promise<RequestStory | undefined>;
  flush: () => Promise<void>;
}

const record = {
  type: Type.Unsafe<RequestRecord['type']>({ type: 'string', enum: ['message', 'verification'] }),
  id: recordId('msg'),
  status: Type.String({ examples: ['delivered'] }),
};

const request = {
  api: apiName,
  at: Type.String(),
  method: Type.String(),
  path: nullable(Type.String()),
  status: Type.Integer({ description: 'The status of the answer', examples: [201] }),
  code: nullable(Type.String()),
  sent_from: Type.Unsafe<SentFrom | null>({
    type: ['string', 'null'],
    enum: ['api', 'portal', null],
    description: 'portal: by the page Try it. Null if it is no longer known',
  }),
};

export const storySchema = Type.Object(
  {
    correlation_id: Type.String(),
    application_id: Type.String(),
    application_name: Type.String(),
    ...request,
    message: nullable(Type.String()),
    outcome: nullable(
      Type.String({
        description: 'The result of the request at that time. Its record may have changed since',
        examples: ['Wrong code, 4 attempts left'],
      }),
    ),
    details: Type.Array(fieldProblemSchema),
    duration_ms: nullable(Type.Number({ examples: [3.2] })),
    limits: Type.Object({
      admitted: Type.Boolean(),
      limit: nullable(Type.Integer()),
      remaining: nullable(Type.Integer()),
      retry_after_seconds: nullable(Type.Integer()),
      refused_by: Type.Unsafe<'minute' | 'burst' | null>({ type: ['string', 'null'], enum: ['minute', 'burst', null] }),
    }),
    // The record that the request created, read or changed; the first of a batch.
    record: Type.Unsafe<unknown>({
      title: 'RequestRecord',
      type: ['object', 'null'],
      required: Object.keys(record),
      properties: record,
    }),
    records: Type.Array(Type.Object(record, { title: 'RequestRecord' })),
    trace_id: nullable(
      Type.String({
        description: 'The trace of OpenTelemetry, if the request was sampled',
        examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
      }),
    ),
    timeline: timelineSchema,
  },
  { title: 'RequestStory' },
);
export type RequestStoryRecord = Static<typeof storySchema>;

const listedSchema = Type.Object(
  {
    correlation_id: Type.String(),
    ...request,
    duration_ms: Type.Number({ examples: [3.2] }),
    record_id: nullable(Type.String()),
    to: nullable(Type.String({ description: 'The phone number of its record' })),
  },
  { title: 'ListedRequest' },
);
export type ListedRequest = Static<typeof listedSchema>;

const filters = {
  api: Type.Optional(
    Type.Unsafe<Api>({ type: 'string', enum: [...apiNames], expected: `one of ${apiNames.join(', ')}` }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^([1-5][0-9]{2}|[2-5]xx|error)$',
      maxLength: 5,
      examples: ['4xx'],
      expected: 'a status like 429, a class like 4xx, or error for 4xx and 5xx',
      description: 'A status like 429, a class like 4xx, or error for 4xx and 5xx',
    }),
  ),
  ...spanQuery,
};
const filtersSchema = Type.Object(filters);

/** Explains a request to a developer who has its correlation id. */
export function createRequestRoutes(options: RequestRoutesOptions): Route[] {
  const { database, clock, registry, findStory, flush } = options;
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: requests' } as const;

  function list(applicationId: string, query: Static<typeof filtersSchema>, page: PageRequest) {
    const filter = { api: query.api, status: readStatuses(query.status) };
    const nowMs = clock.nowMs();
    return readWithin(readIdSpan('req', query, nowMs), page, async (within) => ({
      rows: await listTraces(database, applicationId, within, nowMs, filter),
    }));
  }

  return [
    route({
      ...shared,
      path: '/portal/v1/requests/{correlation_id}',
      operationId: 'getRequest',
      summary: 'Read what happened to a request',
      description:
        'Kept as long as the record that the request created. Other requests are kept for 24 hours, at most the newest 1,000 per application.',
      params: Type.Object({ correlation_id: pathParameter }),
      answers: { 200: { description: 'The request, its records and their timeline', schema: storySchema } },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const story = await findStory(accountId, call.params.correlation_id);
        if (story === undefined) throw notFound();
        const { name } = await registry.requireOwn(accountId, story.applicationId);
        return { status: 200, body: toStory(story, name) };
      },
    }),
    route({
      ...shared,
      path: '/portal/v1/applications/{id}/requests',
      operationId: 'listRequests',
      summary: 'List the latest requests of an application, newest first',
      params: applicationParams,
      query: Type.Object({ ...filters, ...pageQuery }),
      answers: { 200: { description: 'A page of requests', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        await registry.requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        await flush();
        const { rows } = await list(call.params.id, call.query, { limit: limit + 1, after });
        const ids = rows.map(({ recordId }) => recordId);
        const numbers = await findNumbersOf(database, call.params.id, ids);
        return { status: 200, body: toPage(rows, limit, (trace) => toListed(trace, numbers)) };
      },
    }),
    route({
      ...shared,
      path: '/portal/v1/applications/{id}/requests/total',
      operationId: 'countRequests',
      summary: 'Count the latest requests that a list would show',
      params: applicationParams,
      query: filtersSchema,
      answers: { 200: { description: 'The count, up to a maximum', schema: totalSchema } },
      handler: async (call) => {
        await registry.requireOwn(requireDeveloper(call).accountId, call.params.id);
        await flush();
        return { status: 200, body: await countRecords((page) => list(call.params.id, call.query, page)) };
      },
    }),
  ];
}

function readStatuses(status: string | undefined): { lowest: number; highest: number } | undefined {
  if (status === undefined) return undefined;
  if (status === 'error') return { lowest: 400, highest: 599 };
  const lowest = Number(status.replace('xx', '00'));
  return { lowest, highest: status.endsWith('xx') ? lowest + 99 : lowest };
}

/** The request's history in the format of the API. */
export function toStory(story: RequestStory, applicationName: string) {
  const { limits, records } = story;
  return {
    correlation_id: story.correlationId,
    application_id: story.applicationId,
    application_name: applicationName,
    api: story.api,
    at: toTimestamp(idTimeMs(story.correlationId)),
    method: story.method,
    path: calledPath(story.path),
    sent_from: story.durationMs === null ? null : sentFrom(story.path),
    status: story.status,
    code: story.code,
    message: story.message,
    outcome: story.outcome,
    details: story.details,
    duration_ms: story.durationMs,
    limits: {
      admitted: limits.admitted,
      limit: limits.limit,
      remaining: limits.remaining,
      retry_after_seconds: limits.retryAfterSeconds,
      refused_by: limits.refusedBy,
    },
    record: records[0] ?? null,
    records,
    trace_id: story.traceId,
    timeline: toTimeline(story.timeline),
  };
}

function toListed(trace: RequestTrace, numbers: ReadonlyMap<string, string>) {
  return {
    correlation_id: trace.id,
    api: trace.api,
    at: toTimestamp(idTimeMs(trace.id)),
    method: trace.method,
    path: calledPath(trace.path),
    sent_from: sentFrom(trace.path),
    status: trace.status,
    code: trace.code,
    duration_ms: trace.durationMs,
    record_id: trace.recordId,
    to: numbers.get(trace.recordId ?? '') ?? null,
  };
}
