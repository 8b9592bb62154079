// Tests: test/contract/portal-records.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import type { MessageStatus } from '../../messages/message.ts';
import { listMessages } from '../../messages/message-list.ts';
import { toMessageRecord } from '../../messages/message-record.ts';
import { listTraces } from '../../metering/metering-store.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { idTimeMs } from '../../platform/ids.ts';
import type { RegistryService } from '../../registry/registry-service.ts';
import type { VerificationStatus } from '../../verify/verification.ts';
import type { VerifyService } from '../../verify/verify-service.ts';
import { applicationParams } from './application-api.ts';
import { apiName } from './registration-api.ts';

export interface FailureRoutesOptions {
  database: Database;
  clock: Clock;
  registry: Pick<RegistryService, 'requireApplication'>;
  verify: Pick<VerifyService, 'list'>;
  /** Writes this node's traces, so that the reader sees the latest. */
  flush: () => Promise<void>;
}

const kinds = ['request', 'message', 'verification'] as const;
const failureSchema = Type.Object(
  {
    type: Type.Unsafe<(typeof kinds)[number]>({ type: 'string', enum: [...kinds] }),
    id: Type.String({ description: 'The correlation id of a request, or the id of the record' }),
    api: apiName,
    at: Type.String(),
    status: Type.String({
      description: 'The HTTP status of a request, or the status of the record',
      examples: ['failed'],
    }),
    subject: Type.String({
      description: 'Method and path of a request, or the number of the record',
      examples: ['+447700900123'],
    }),
    reason: nullable(Type.String()),
  },
  { title: 'Failure' },
);
export type FailureRecord = Static<typeof failureSchema>;

const mostShown = 10;
const messageFailures: MessageStatus[] = ['failed', 'undelivered', 'expired'];
const verificationFailures: VerificationStatus[] = ['failed', 'blocked'];

/** The latest failures, for the overview: requests of the last day, and the newest records. */
export function createFailureRoutes(options: FailureRoutesOptions): Route[] {
  const { database, clock, registry, verify, flush } = options;

  async function failedRequests(applicationId: string): Promise<FailureRecord[]> {
    await flush();
    const page = { limit: mostShown, after: undefined };
    const status = { lowest: 400, highest: 599 };
    const traces = await listTraces(database, applicationId, page, clock.nowMs(), { status });
    return traces.map((trace) => ({
      type: 'request',
      id: trace.id,
      api: trace.api,
      at: toTimestamp(idTimeMs(trace.id)),
      status: String(trace.status),
      subject: [trace.method, trace.path ?? ''].join(' ').trim(),
      reason: trace.message,
    }));
  }

  async function failedMessages(applicationId: string, api: Api, status: MessageStatus): Promise<FailureRecord[]> {
    const page = { limit: mostShown, after: undefined, nowMs: clock.nowMs() };
    const { rows } = await listMessages(database, applicationId, api, { status }, page);
    return rows.map(toMessageRecord).map(({ id, updated_at, to, error }) => {
      return { type: 'message', id, api, at: updated_at, status, subject: to, reason: error?.message ?? null };
    });
  }

  async function failedVerifications(applicationId: string, status: VerificationStatus): Promise<FailureRecord[]> {
    const rows = await verify.list(applicationId, { status }, { limit: mostShown, after: undefined });
    return rows.map(({ record: { id, updated_at, to, reason } }) => {
      return { type: 'verification', id, api: 'verify', at: updated_at, status, subject: to, reason };
    });
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/failures',
      auth: { kind: 'developer' },
      tag: 'Developer portal: records',
      operationId: 'listFailures',
      summary: 'List the latest failures: requests, messages and verifications, newest first',
      params: applicationParams,
      answers: {
        200: {
          description: `At most ${mostShown}`,
          schema: Type.Object({ data: Type.Array(failureSchema) }, { title: 'Failures' }),
        },
      },
      handler: async (call) => {
        const { id } = call.params;
        const { registrations } = await registry.requireApplication(requireDeveloper(call).accountId, id);
        // In sequence, so that a request uses one connection at a time.
        const found = await failedRequests(id);
        for (const { api } of registrations) {
          if (api === 'verify') {
            for (const status of verificationFailures) found.push(...(await failedVerifications(id, status)));
          } else {
            for (const status of messageFailures) found.push(...(await failedMessages(id, api, status)));
          }
        }
        found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
        return { status: 200, body: { data: found.slice(0, mostShown) } };
      },
    }),
  ];
}
