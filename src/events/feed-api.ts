// Tests: test/contract/event-feed.test.ts, test/contract/event-stream.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageQuery } from '../http/list-page.ts';
import { exampleId, exampleTimes } from '../http/openapi/field-examples.ts';
import { type Auth, type Call, type Route, requireApplication, route } from '../http/route.ts';
import { streamReply } from '../http/streams/open-streams.ts';
import { invalidField } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import type { FairShare, Place as QueuePlace } from '../platform/work/fair-share.ts';
import { createSharedReads } from '../platform/work/shared-reads.ts';
import { type EventType, eventTypes } from './event.ts';
import type { EventReads, FeedSpan } from './event-reads.ts';
import type { EventFilter } from './event-store.ts';
import type { EventStreams } from './event-streams.ts';
import type { Listeners } from './listeners.ts';
import type { Found, LongPolls } from './long-polls.ts';

export interface FeedRoutesOptions {
  listeners: Listeners;
  reads: EventReads;
  polls: LongPolls;
  streams: EventStreams;
  /** Limits concurrent reads by caller. */
  turns: FairShare;
}

const exampleEvent = {
  id: exampleId('evt'),
  type: 'message.delivered',
  time: exampleTimes.delivered_at,
  sequence: 2,
  subject: exampleId('msg'),
  api: 'sms',
  application_id: exampleId('app'),
  reference: 'order-1234',
  data: {
    id: exampleId('msg'),
    status: 'delivered',
    sent_at: exampleTimes.sent_at,
    delivered_at: exampleTimes.delivered_at,
  },
};

export const eventSchema = Type.Object(
  {
    id: Type.String({ examples: [exampleId('evt')], description: 'Also a cursor: the next page begins after it' }),
    type: Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] }),
    time: Type.String(),
    sequence: Type.Integer({ description: 'Numbers the events of the record from 1' }),
    subject: Type.String({ description: 'The id of the record' }),
    api: nullable(Type.String()),
    application_id: Type.String(),
    reference: nullable(Type.String()),
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        examples: [{ id: exampleId('msg'), status: 'delivered' }],
        description: 'The record, as a read would show it',
      },
    ),
  },
  { title: 'Event', examples: [exampleEvent] },
);
const feedSchema = Type.Object(
  {
    data: Type.Array(eventSchema),
    next_cursor: Type.String({ description: 'Pass it as cursor to continue', examples: [exampleId('evt')] }),
  },
  { title: 'EventFeed' },
);

export const eventStreamExample = `id: ${exampleId('evt')}\nevent: message.delivered\ndata: ${JSON.stringify(exampleEvent)}\n\n`;

export type EventRecord = Static<typeof eventSchema>;

export const eventFilters = {
  type: Type.Optional(
    Type.Unsafe<EventType>({
      type: 'string',
      enum: [...eventTypes],
      expected: `one of ${eventTypes.join(', ')}`,
      description: 'Only events of this type',
    }),
  ),
  subject: Type.Optional(Type.String({ maxLength: 64, description: 'The id of a record: only its events' })),
};

/** Each caller reads the events of the API of its credential. */
export const feedAuth: Auth[] = [{ kind: 'apikey' }, { kind: 'bearer', scope: undefined }];

const subjects = ['msg', 'ver', 'inb', 'opt'] as const;

export function readEventFilter(query: { type?: EventType | undefined; subject?: string | undefined }): EventFilter {
  const { type, subject } = query;
  if (subject !== undefined && !subjects.some((prefix) => isId(prefix, subject)))
    throw invalidField('subject', 'must be the id of a message, a verification, an inbound text or an opt-out');
  return { types: type && [type], subject };
}

export const lastEventId = 'Last-Event-ID';

/** Where a stream resumes. A browser that reconnects sends its first address with a newer Last-Event-ID. */
export async function readStreamPosition(
  reads: EventReads,
  applicationId: string,
  call: Pick<Call, 'lastEventId'>,
  cursor: string | undefined,
): Promise<number | undefined> {
  if (call.lastEventId !== undefined) return reads.readCursor(applicationId, call.lastEventId, lastEventId);
  return cursor === undefined ? undefined : reads.readCursor(applicationId, cursor, 'cursor');
}

/** The event feed, as a list and as a stream. */
export function createFeedRoutes({ listeners, reads, polls, streams, turns }: FeedRoutesOptions): Route[] {
  const shared = { method: 'GET', auth: feedAuth, tag: 'Events' } as const;
  const sharedReads = createSharedReads(turns);

  /** Reading makes the application listen. */
  async function findSpan(applicationId: string, position: number | undefined): Promise<FeedSpan> {
    const listener = await listeners.readFeed(applicationId);
    return position === undefined ? reads.spanFromNow() : reads.spanAfter(listener, position);
  }

  const toBody = (applicationId: string, { items, readTo }: Found) => ({
    data: items.map((item) => item.emitted),
    next_cursor: reads.cursorAt(applicationId, readTo),
  });

  return [
    route({
      ...shared,
      path: '/events/v1/events',
      operationId: 'listEvents',
      summary: 'Read events, oldest first',
      description:
        'Without a cursor it starts at now. `next_cursor` is always present. `wait_seconds` waits for the ' +
        'first event if there is none. If events after the cursor may be missing, the answer is a 410 `CURSOR_EXPIRED`.',
      waits: true,
      query: Type.Object({
        ...pageQuery,
        ...eventFilters,
        wait_seconds: Type.Integer({
          minimum: 0,
          maximum: 25,
          default: 0,
          expected: 'a whole number from 0 to 25',
          description: 'How long to wait for the first event',
        }),
      }),
      refuses: { CURSOR_EXPIRED: 'Events may be missing after the cursor' },
      answers: { 200: { description: 'A page of events', schema: feedSchema } },
      handler: async (call) => {
        const { applicationId, api, registrationId } = requireApplication(call);
        const { cursor, limit, type, subject, wait_seconds } = call.query;
        const filter = { ...readEventFilter(call.query), api };
        const position = cursor === undefined ? undefined : await reads.readCursor(applicationId, cursor, 'cursor');
        const read = (span: FeedSpan) => reads.readPage(applicationId, span, filter, limit);
        const turn: QueuePlace = { caller: applicationId, queue: api, room: call.room };
        const key = JSON.stringify([registrationId, cursor, limit, type, subject]);
        const page = await sharedReads(key, turn, async () => read(await findSpan(applicationId, position)));
        if (page.items.length > 0 || page.more || wait_seconds === 0 || call.method === 'HEAD')
          return { status: 200, body: toBody(applicationId, page) };
        const found = await polls.wait({
          applicationId,
          filter,
          after: page.readTo,
          limit,
          waitMs: wait_seconds * 1000,
          readUpTo: (upTo) => turns.run(turn, () => read({ after: page.readTo, upTo })),
          signal: call.signal,
          onCredentialEnd: (act) => call.onCredentialEnd(act),
        });
        return { status: 200, body: toBody(applicationId, found) };
      },
    }),
    route({
      ...shared,
      path: '/events/v1/stream',
      operationId: 'streamEvents',
      summary: 'Stream events as server-sent events',
      description:
        'The same events; `Last-Event-ID` resumes without a gap or a repeat. An application can have 5 streams of events ' +
        'on a node; one more gets a 409 `TOO_MANY_STREAMS`. A stream ends with the credential that opened it.',
      stream: true,
      bulkhead: 'side',
      query: Type.Object({ cursor: pageQuery.cursor, ...eventFilters }),
      answers: {
        200: {
          description: 'One server-sent event per event, of its type',
          type: 'text/event-stream',
          example: eventStreamExample,
        },
      },
      refuses: {
        CURSOR_EXPIRED: 'Events may be missing after the cursor',
        TOO_MANY_STREAMS: 'The application has 5 open streams of events on this node',
      },
      handler: async (call) => {
        const { applicationId, api } = requireApplication(call);
        const filter = { ...readEventFilter(call.query), api };
        const position = await readStreamPosition(reads, applicationId, call, call.query.cursor);
        const { after } = await findSpan(applicationId, position);
        // HEAD returns headers only, so it does not use up a stream.
        if (call.method === 'HEAD') return streamReply('');
        const stream = await streams.open({
          applicationId,
          filter,
          after,
          returning: position !== undefined,
          listens: true,
          signal: call.signal,
          onCredentialEnd: (act) => call.onCredentialEnd(act),
          // The edge checks the credential, and ends the stream with it.
          mayRead: async () => true,
        });
        return streamReply(stream);
      },
    }),
  ];
}
