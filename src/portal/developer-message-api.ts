import { type Static, Type } from 'typebox';
import { findAttemptStories, withAttempts } from '../delivery/attempt-story.ts';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../http/list-page.ts';
import { type Api, type Route, requireDeveloper, route } from '../http/route.ts';
import { timelineSchema, toTimeline } from '../http/timeline.ts';
import type { ShownMessage } from '../messages/message.ts';
import { listMessages } from '../messages/message-list.ts';
import { messageFilters, messageSchema, toMessageRecord } from '../messages/message-record.ts';
import { readNumberFilter } from '../messages/phone-number.ts';
import { messageTimeline } from '../messages/tracked-message.ts';
import { findTrackedMessage } from '../messages/tracked-message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { attemptsSchema, toAttempts } from './attempt-record.ts';
import { apiName } from './registration-api.ts';

export interface DeveloperMessageOptions {
  database: Database;
  clock: Clock;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const listedSchema = Type.Object({ ...messageSchema.properties, api: apiName }, { title: 'ListedMessage' });
export type ListedMessage = Static<typeof listedSchema>;
const detailSchema = Type.Object(
  {
    ...listedSchema.properties,
    correlation_id: Type.String({ description: 'The request that created it' }),
    attempts: Type.Integer(),
    possible_duplicates: Type.Integer({ description: 'How often it was sent again although it may have arrived' }),
    submits: attemptsSchema,
    timeline: timelineSchema,
  },
  { title: 'MessageDetail' },
);
export type MessageDetail = Static<typeof detailSchema>;

const base = '/portal/v1/applications/{id}/messages';
const params = Type.Object({ id: pathParameter });

/** Developers' texts in the portal. A verification's texts are shown with the verification. */
export function createDeveloperMessageRoutes({ database, clock, requireOwn }: DeveloperMessageOptions): Route[] {
  const shared = { method: 'GET', auth: { kind: 'developer' }, tag: 'Developer portal: records' } as const;
  return [
    route({
      ...shared,
      path: base,
      operationId: 'listApplicationMessages',
      summary: 'List the messages of an application, newest first',
      params,
      query: Type.Object({
        api: Type.Unsafe<Exclude<Api, 'verify'>>({
          type: 'string',
          enum: ['sms', 'messaging'],
          default: 'sms',
          description: 'The API that the texts were sent through',
          expected: 'one of sms, messaging',
        }),
        ...messageFilters,
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of messages', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const { limit, after } = readPage(call.query);
        const { api, status, reference } = call.query;
        const filter = { to: readNumberFilter(call.query.to), status, reference };
        const page = { limit: limit + 1, after, nowMs: clock.nowMs() };
        const { rows, searchedTo } = await listMessages(database, call.params.id, api, filter, page);
        return { status: 200, body: toPage(rows, limit, (message) => toListed(message, api), searchedTo) };
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
          possible_duplicates: message.possibleDuplicates,
          submits: toAttempts([...stories.values()].flat()),
          timeline: toTimeline(withAttempts(messageTimeline(message), stories)),
        };
        return { status: 200, body };
      },
    }),
  ];
}

function toListed(message: ShownMessage, api: Api) {
  return { ...toMessageRecord(message), api };
}
