// Tests: test/contract/portal-records.test.ts
import { type Static, Type } from 'typebox';
import { findAttemptStories, withAttempts } from '../../delivery/attempts/story.ts';
import {
  nullable,
  type PageRequest,
  pageQuery,
  pageSchema,
  pathParameter,
  readPage,
  toPage,
} from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { timelineSchema, toTimeline } from '../../http/timeline.ts';
import { longestNumber, readNumberSearch, searchForm } from '../../messages/numbers/phone-number.ts';
import { toSentTexts } from '../../messages/tracked-message.ts';
import { findTextsByIds } from '../../messages/tracked-message-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { isWaiting, type WaitStories, waitEvents } from '../../quality/waiting/stories.ts';
import { asOf } from '../../verify/verification.ts';
import {
  toVerificationRecord,
  type VerificationRecord,
  verificationFilters,
  verificationSchema,
} from '../../verify/verification-record.ts';
import { findVerification } from '../../verify/verification-store.ts';
import { readVerificationTimeline } from '../../verify/verification-timeline.ts';
import type { VerifyService } from '../../verify/verify-service.ts';
import { attemptsSchema, toAttempts } from './attempt-record.ts';
import { mostFileRows, type SendFile } from './record-file.ts';
import { readIdSpan, readWithin, spanQuery } from './record-span.ts';
import { countRecords, totalSchema } from './record-total.ts';

export interface DeveloperVerificationOptions {
  database: Database;
  clock: Clock;
  verify: Pick<VerifyService, 'list' | 'search'>;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
  sendFile: SendFile;
  waits: WaitStories;
}

const base = '/portal/v1/applications/{id}/verifications';
const params = Type.Object({ id: pathParameter });
export const detailSchema = Type.Object(
  {
    ...verificationSchema.properties,
    correlation_id: Type.String({ description: 'The request that started it' }),
    submits: attemptsSchema,
    timeline: timelineSchema,
    waiting: nullable(
      Type.String({
        examples: [null],
        description: 'Why its newest text has not been sent yet; null if it does not wait',
      }),
    ),
  },
  { title: 'VerificationDetail' },
);
export type VerificationDetail = Static<typeof detailSchema>;

const filters = Type.Object({
  ...verificationFilters,
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: searchForm })),
  ...spanQuery,
});

const fileTitles = [
  'id',
  'created_at',
  'status',
  'reason',
  'to',
  'channel',
  'attempts',
  'sends',
  'delivery',
  'reference',
  'approved_at',
  'expires_at',
] as const;

/** Developers' verifications in the portal. */
export function createDeveloperVerificationRoutes(options: DeveloperVerificationOptions): Route[] {
  const { database, clock, verify, requireOwn, sendFile, waits } = options;
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;

  function list(applicationId: string, query: Static<typeof filters>, page: PageRequest) {
    const { status, reference } = query;
    const { to, part } = readNumberSearch(query.to);
    const filter = { to, status, reference };
    return readWithin(readIdSpan('ver', query, clock.nowMs()), page, async (within) =>
      part === undefined
        ? { rows: await verify.list(applicationId, filter, within) }
        : verify.search(applicationId, filter, part, within),
    );
  }

  return [
    route({
      ...shared,
      path: base,
      operationId: 'listApplicationVerifications',
      summary: 'List the verifications of an application, newest first',
      params,
      query: Type.Object({ ...filters.properties, ...pageQuery }),
      answers: { 200: { description: 'A page of verifications', schema: pageSchema(verificationSchema) } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        const { rows, searchedTo } = await list(call.params.id, call.query, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, ({ record }) => record, searchedTo) };
      },
    }),
    route({
      ...shared,
      path: `${base}/total`,
      operationId: 'countApplicationVerifications',
      summary: 'Count the verifications that a list would show',
      params,
      query: filters,
      answers: { 200: { description: 'The count, up to a maximum', schema: totalSchema } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        return { status: 200, body: await countRecords((page) => list(call.params.id, call.query, page)) };
      },
    }),
    route({
      ...shared,
      path: `${base}.csv`,
      operationId: 'getApplicationVerificationsFile',
      summary: 'The verifications of an application as a CSV file',
      description: `The newest ${mostFileRows} that match. Choose another time span for older ones.`,
      params,
      query: filters,
      answers: {
        200: {
          description: 'A line of titles, then one for each verification, newest first',
          type: 'text/csv',
          headers: ['Content-Disposition'],
          example: `${fileTitles.join(',')}\r\n`,
        },
      },
      refuses: { TOO_MANY_STREAMS: 'The account is downloading 2 files' },
      waits: true,
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const readPage = async (page: PageRequest) => {
          const { rows, searchedTo } = await list(call.params.id, call.query, page);
          return { rows: rows.map(toFileRow), next: rows.length < page.limit ? searchedTo : rows.at(-1)?.id };
        };
        return sendFile(call, { name: `verifications-${call.params.id}`, titles: fileTitles, readPage });
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
        const waiting = await waits.find(texts.filter(isWaiting).map((text) => text.id));
        const events = withAttempts(await readVerificationTimeline(database, verification, texts), stories);
        const body = {
          ...toVerificationRecord(verification, newest && { ...newest, messageId: newest.id }, {
            all: toSentTexts(texts),
          }),
          correlation_id: verification.correlationId,
          submits: toAttempts([...stories.values()].flat()),
          timeline: toTimeline([...events, ...waitEvents(waiting, clock.nowMs())]),
          waiting: (newest && waiting.get(newest.id)?.forDevelopers) ?? null,
        };
        return { status: 200, body };
      },
    }),
  ];
}

function toFileRow({ record }: { record: VerificationRecord }): (string | number | null)[] {
  const shown = { ...record, delivery: record.delivery?.status ?? null };
  return fileTitles.map((title) => shown[title]);
}
