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
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import { timelineSchema, toTimeline } from '../../http/timeline.ts';
import { countBatches, type MessageBatch } from '../../messages/lists/batches.ts';
import { mergePages } from '../../messages/lists/merge-pages.ts';
import type { Message, ShownMessage } from '../../messages/message.ts';
import { listMessages } from '../../messages/message-list.ts';
import { messageFilters, messageSchema, toMessageRecord } from '../../messages/message-record.ts';
import { findMessages } from '../../messages/message-store.ts';
import { longestNumber, readNumberSearch, searchForm } from '../../messages/numbers/phone-number.ts';
import { messageTimeline } from '../../messages/tracked-message.ts';
import { findTrackedMessage } from '../../messages/tracked-message-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { isWaiting, type WaitStories, waitEvents } from '../../quality/waiting/stories.ts';
import { attemptsSchema, toAttempts } from './attempt-record.ts';
import { mostFileRows, type SendFile } from './record-file.ts';
import { readIdSpan, readWithin, spanQuery } from './record-span.ts';
import { countRecords, totalSchema } from './record-total.ts';
import { apiName } from './registration-api.ts';

export interface DeveloperMessageOptions {
  database: Database;
  clock: Clock;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
  sendFile: SendFile;
  waits: WaitStories;
}

const listedSchema = Type.Object(
  {
    ...messageSchema.properties,
    api: apiName,
    correlation_id: Type.String({ description: 'The request that created it' }),
  },
  { title: 'ListedMessage' },
);
export type ListedMessage = Static<typeof listedSchema>;
const batchSchema = Type.Object(
  {
    correlation_id: Type.String({ description: 'The request of the batch' }),
    size: Type.Integer({ examples: [100] }),
    statuses: Type.Array(Type.Object({ status: Type.String({ examples: ['delivered'] }), count: Type.Integer() })),
  },
  { title: 'MessageBatch' },
);
export type MessageBatchRecord = Static<typeof batchSchema>;
const listSchema = Type.Object(
  {
    ...pageSchema(listedSchema).properties,
    batches: Type.Array(batchSchema, { description: 'The batches that have two messages or more on this page' }),
  },
  { title: 'ListedMessagePage' },
);
export const detailSchema = Type.Object(
  {
    ...listedSchema.properties,
    attempts: Type.Integer(),
    submits: attemptsSchema,
    timeline: timelineSchema,
    waiting: nullable(
      Type.String({ examples: [null], description: 'Why it has not been sent yet; null if it does not wait' }),
    ),
  },
  { title: 'MessageDetail' },
);
export type MessageDetail = Static<typeof detailSchema>;

type TextApi = Exclude<Api, 'verify'>;
const textApis: TextApi[] = ['sms', 'messaging'];

const base = '/portal/v1/applications/{id}/messages';
const params = Type.Object({ id: pathParameter });

const filters = Type.Object({
  api: Type.Optional(
    Type.Unsafe<TextApi>({
      type: 'string',
      enum: textApis,
      description: 'The API that the texts were sent through; both if it is absent',
      expected: 'one of sms, messaging',
    }),
  ),
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
  'api',
] as const;

/** Developers' texts in the portal. A verification's texts are shown with the verification. */
export function createDeveloperMessageRoutes(options: DeveloperMessageOptions): Route[] {
  const { database, clock, requireOwn, sendFile, waits } = options;
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;

  function list(applicationId: string, query: Static<typeof filters>, page: PageRequest) {
    const { api, status, reference } = query;
    const filter = { ...readNumberSearch(query.to), status, reference };
    const nowMs = clock.nowMs();
    return readWithin(readIdSpan('msg', query, nowMs), page, async (within) => {
      const apis = api === undefined ? textApis : [api];
      const lists = apis.map((each) => listMessages(database, applicationId, each, filter, { ...within, nowMs }));
      return mergePages(await Promise.all(lists), page.limit);
    });
  }

  /** The API and the request of each message. */
  async function findOrigins(messages: ShownMessage[]): Promise<Map<string, Message>> {
    const ids = messages.map(({ id }) => id);
    return new Map((await findMessages(database, ids)).map((message) => [message.id, message]));
  }

  return [
    route({
      ...shared,
      path: base,
      operationId: 'listApplicationMessages',
      summary: 'List the messages of an application, newest first',
      params,
      query: Type.Object({ ...filters.properties, ...pageQuery }),
      answers: { 200: { description: 'A page of messages', schema: listSchema } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        const { rows, searchedTo } = await list(call.params.id, call.query, { limit: limit + 1, after });
        const origins = await findOrigins(rows.slice(0, limit));
        const batches = await countBatches(database, call.params.id, [...origins.values()]);
        const page = toPage(rows, limit, (message) => toListed(message, origins.get(message.id)), searchedTo);
        return { status: 200, body: { ...page, batches: batches.map(toBatch) } };
      },
    }),
    route({
      ...shared,
      path: `${base}/total`,
      operationId: 'countApplicationMessages',
      summary: 'Count the messages that a list would show',
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
          const origins = await findOrigins(rows);
          return { rows: rows.map((message) => toFileRow(message, origins.get(message.id)?.api)), next };
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
        const waiting = isWaiting(message) ? await waits.find([message.id]) : new Map();
        const events = [...withAttempts(messageTimeline(message), stories), ...waitEvents(waiting, clock.nowMs())];
        const body = {
          ...toListed(message, message),
          attempts: message.attempt,
          submits: toAttempts([...stories.values()].flat()),
          timeline: toTimeline(events),
          waiting: waiting.get(message.id)?.forDevelopers ?? null,
        };
        return { status: 200, body };
      },
    }),
  ];
}

function toFileRow(message: ShownMessage, api: Api = 'sms'): (string | number | null)[] {
  const { segments, error, ...record } = toMessageRecord(message);
  const shown = { ...record, segments: segments.count, encoding: segments.encoding, error: error?.code ?? null, api };
  return fileTitles.map((title) => shown[title]);
}

function toListed(message: ShownMessage, about: { api: Api; correlationId: string } | undefined) {
  return { ...toMessageRecord(message), api: about?.api ?? 'sms', correlation_id: about?.correlationId ?? '' };
}

function toBatch({ correlationId, counts }: MessageBatch) {
  const statuses = [...counts].map(([status, count]) => ({ status, count }));
  const size = statuses.reduce((sum, { count }) => sum + count, 0);
  return { correlation_id: correlationId, size, statuses: statuses.sort((a, b) => b.count - a.count) };
}
