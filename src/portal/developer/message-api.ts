// Tests: test/contract/portal-records.test.ts
import { type Static, Type } from 'typebox';
import { findAttemptStories, withAttempts } from '../../delivery/attempts/story.ts';
import { type PageRequest, pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import { timelineSchema, toTimeline } from '../../http/timeline.ts';
import type { ShownMessage } from '../../messages/message.ts';
import { listMessages } from '../../messages/message-list.ts';
import { messageFilters, messageSchema, toMessageRecord } from '../../messages/message-record.ts';
import { longestNumber, readNumberSearch, searchForm } from '../../messages/numbers/phone-number.ts';
import { messageTimeline } from '../../messages/tracked-message.ts';
import { findTrackedMessage } from '../../messages/tracked-message-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { attemptsSchema, toAttempts } from './attempt-record.ts';
import { mostFileRows, type SendFile } from './record-file.ts';
import { readIdSpan, readWithin, spanQuery } from './record-span.ts';
import { apiName } from './registration-api.ts';

export interface DeveloperMessageOptions {
  database: Database;
  clock: Clock;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
  sendFile: SendFile;
}

const listedSchema = Type.Object({ ...messageSchema.properties, api: apiName }, { title: 'ListedMessage' });
export type ListedMessage = Static<typeof listedSchema>;
const detailSchema = Type.Object(
  {
    ...listedSchema.properties,
    correlation_id: Type.String({ description: 'The request that created it' }),
    attempts: Type.Integer(),
    submits: attemptsSchema,
    timeline: timelineSchema,
  },
  { title: 'MessageDetail' },
);
export type MessageDetail = Static<typeof detailSchema>;

const base = '/portal/v1/applications/{id}/messages';
const params = Type.Object({ id: pathParameter });

const filters = Type.Object({
  api: Type.Unsafe<Exclude<Api, 'verify'>>({
    type: 'string',
    enum: ['sms', 'messaging'],
    default: 'sms',
    description: 'The API that the texts were sent through',
    expected: 'one of sms, messaging',
  }),
  ...messageFilters,
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: searchForm })),
  ...spanQuery,
});

const fileTitles = [
  'id',
  'created_at',
  'status',
  'to',
  'from',
  'message',
  'segments',
  'encoding',
  'reference',
  'error',
  'sent_at',
  'delivered_at',
] as const;

/** Developers' texts in the portal. A verification's texts are shown with the verification. */
export function createDeveloperMessageRoutes(options: DeveloperMessageOptions): Route[] {
  const { database, clock, requireOwn, sendFile } = options;
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;

  function list(applicationId: string, query: Static<typeof filters>, page: PageRequest) {
    const { api, status, reference } = query;
    const filter = { ...readNumberSearch(query.to), status, reference };
    const nowMs = clock.nowMs();
    return readWithin(readIdSpan('msg', query, nowMs), page, (within) =>
      listMessages(database, applicationId, api, filter, { ...within, nowMs }),
    );
  }

  return [
    route({
      ...shared,
      path: base,
      operationId: 'listApplicationMessages',
      summary: 'List the messages of an application, newest first',
      params,
      query: Type.Object({ ...filters.properties, ...pageQuery }),
      answers: { 200: { description: 'A page of messages', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        const { api } = call.query;
        const { rows, searchedTo } = await list(call.params.id, call.query, { limit: limit + 1, after });
        return { status: 200, body: toPage(rows, limit, (message) => toListed(message, api), searchedTo) };
      },
    }),
    route({
      ...shared,
      path: `${base}.csv`,
      operationId: 'getApplicationMessagesFile',
      summary: 'The messages of an application as a CSV file',
      description: `The newest ${mostFileRows} that match. Choose another time span for older ones.`,
      params,
      query: filters,
      answers: {
        200: {
          description: 'A line of titles, then one for each message, newest first',
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
          const next = rows.length < page.limit ? searchedTo : rows.at(-1)?.id;
          return { rows: rows.map(toFileRow), next };
        };
        return sendFile(call, { name: `messages-${call.params.id}`, titles: fileTitles, readPage });
      },
    }),
    route({
      ...shared,
      path: `${base}/{message_id}`,
      operationId: 'getApplicationMessage',
      summary: 'Read a message and its timeline',
      params: Type.Object({ ...params.properties, message_id: pathParameter }),
      answers: { 200: { description: 'The message as it is now', schema: detailSchema } },
      handler: async (call) => {
        const { id, message_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const message = isId('msg', message_id) ? await findTrackedMessage(database, id, message_id) : undefined;
        if (message === undefined || message.api === 'verify') throw notFound();
        const stories = await findAttemptStories(database, [message.id]);
        const body = {
          ...toListed(message, message.api),
          correlation_id: message.correlationId,
          attempts: message.attempt,
          submits: toAttempts([...stories.values()].flat()),
          timeline: toTimeline(withAttempts(messageTimeline(message), stories)),
        };
        return { status: 200, body };
      },
    }),
  ];
}

function toFileRow(message: ShownMessage): (string | number | null)[] {
  const { segments, error, ...record } = toMessageRecord(message);
  const shown = { ...record, segments: segments.count, encoding: segments.encoding, error: error?.code ?? null };
  return fileTitles.map((title) => shown[title]);
}

function toListed(message: ShownMessage, api: Api) {
  return { ...toMessageRecord(message), api };
}
