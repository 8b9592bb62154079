import { type Static, Type } from 'typebox';
import { findAttemptStories, withAttempts } from '../delivery/attempt-story.ts';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { timelineSchema, toTimeline } from '../http/timeline.ts';
import { readNumberFilter } from '../messages/phone-number.ts';
import { findTextsByIds } from '../messages/tracked-message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { asOf } from '../verify/verification.ts';
import { toVerificationRecord, verificationFilters, verificationSchema } from '../verify/verification-record.ts';
import { findVerification } from '../verify/verification-store.ts';
import { verificationTimeline } from '../verify/verification-timeline.ts';
import type { VerifyService } from '../verify/verify-service.ts';
import { attemptsSchema, toAttempts } from './attempt-record.ts';

export interface DeveloperVerificationOptions {
  database: Database;
  clock: Clock;
  verify: Pick<VerifyService, 'list'>;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const base = '/portal/v1/applications/{id}/verifications';
const params = Type.Object({ id: pathParameter });
const detailSchema = Type.Object(
  {
    ...verificationSchema.properties,
    correlation_id: Type.String({ description: 'The request that started it' }),
    submits: attemptsSchema,
    timeline: timelineSchema,
  },
  { title: 'VerificationDetail' },
);
export type VerificationDetail = Static<typeof detailSchema>;

/** Developers' verifications in the portal. */
export function createDeveloperVerificationRoutes(options: DeveloperVerificationOptions): Route[] {
  const { database, clock, verify, requireOwn } = options;
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;
  return [
    route({
      ...shared,
      path: base,
      operationId: 'listApplicationVerifications',
      summary: 'List the verifications of an application, newest first',
      params,
      query: Type.Object({
        ...verificationFilters,
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of verifications', schema: pageSchema(verificationSchema) } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        const { status, reference } = call.query;
        const filter = { to: readNumberFilter(call.query.to), status, reference };
        const rows = await verify.list(call.params.id, filter, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, ({ record }) => record) };
      },
    }),
    route({
      ...shared,
      path: `${base}/{verification_id}`,
      operationId: 'getApplicationVerification',
      summary: 'Read a verification and its timeline',
      params: Type.Object({ ...params.properties, verification_id: pathParameter }),
      answers: { 200: { description: 'The verification as it is now', schema: detailSchema } },
      handler: async (call) => {
        const { id, verification_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const found = isId('ver', verification_id) ? await findVerification(database, id, verification_id) : undefined;
        if (found === undefined) throw notFound();
        const verification = asOf(found, clock.nowMs());
        const texts = await findTextsByIds(database, verification.textIds);
        const newest = texts.at(-1);
        const stories = await findAttemptStories(database, verification.textIds);
        const body = {
          ...toVerificationRecord(verification, newest && { ...newest, messageId: newest.id }),
          correlation_id: verification.correlationId,
          submits: toAttempts([...stories.values()].flat()),
          timeline: toTimeline(withAttempts(verificationTimeline(verification, texts), stories)),
        };
        return { status: 200, body };
      },
    }),
  ];
}
