// Tests: test/contract/portal-events.test.ts
import { type Static, Type } from 'typebox';
import type { LiveEvent } from '../../events/event-feed.ts';
import type { EventReads } from '../../events/event-reads.ts';
import type { EventStreams } from '../../events/event-streams.ts';
import {
  eventFilters,
  eventSchema,
  eventStreamExample,
  readEventFilter,
  readStreamPosition,
} from '../../events/feed-api.ts';
import { findListener, type Listener } from '../../events/listener-store.ts';
import type { Listeners } from '../../events/listeners.ts';
import { nullable, pageQuery, pathParameter } from '../../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../../http/route.ts';
import { streamReply } from '../../http/streams/open-streams.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../../platform/errors.ts';
import { type EventDelivery, findEventDeliveries } from '../../webhooks/event-deliveries.ts';
import { deliveryStatus } from './webhook-record.ts';

export interface PortalEventOptions {
  database: Database;
  listeners: Listeners;
  reads: EventReads;
  streams: EventStreams;
  /** In the sandbox a read of the events makes the application listen; elsewhere its developer has to request it. */
  listensByReading: boolean;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const deliverySchema = Type.Object(
  {
    webhook_id: Type.String(),
    url: Type.String(),
    status: deliveryStatus,
    attempts: Type.Integer(),
  },
  { title: 'EventDelivery' },
);
export type EventDeliveryRecord = Static<typeof deliverySchema>;

const portalEventSchema = Type.Object(
  {
    ...eventSchema.properties,
    deliveries: Type.Array(deliverySchema, { description: 'One for each webhook that was called' }),
  },
  { title: 'EventWithDeliveries' },
);
export type EventWithDeliveries = Static<typeof portalEventSchema>;

const pageSchema = Type.Object(
  {
    data: Type.Array(portalEventSchema),
    next_cursor: nullable(Type.String({ description: 'Null if the application does not listen' })),
    listening: Type.Boolean({ description: 'Whether changes of its records write events' }),
  },
  { title: 'EventWithDeliveriesPage' },
);
export type EventsPage = Static<typeof pageSchema>;

const listeningSchema = Type.Object({ listening: Type.Boolean({ examples: [true] }) }, { title: 'Listening' });

const fromEnd = Type.Optional(
  Type.Unsafe<'oldest' | 'newest'>({
    type: 'string',
    enum: ['oldest', 'newest'],
    expected: 'oldest or newest',
    description: 'Where to begin without a cursor. The newest that match are also listed oldest first',
  }),
);
const base = '/portal/v1/applications/{id}/events';
const params = Type.Object({ id: pathParameter });

/** The events of an application for its developer, from all APIs. */
export function createPortalEventRoutes(options: PortalEventOptions): Route[] {
  const { database, listeners, reads, streams, listensByReading, requireOwn } = options;
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: events', params } as const;
  const requireOwnBy = (call: Call<{ id: string }>) => requireOwn(requireDeveloper(call).accountId, call.params.id);

  async function listenerOf(applicationId: string): Promise<Listener | undefined> {
    if (listensByReading) return listeners.readFeed(applicationId);
    const found = await findListener(database, applicationId);
    return found?.begun === true ? found : undefined;
  }

  async function withDeliveries(applicationId: string, items: LiveEvent[]) {
    const positions = items.map(({ position }) => position);
    const found =
      items.length === 0
        ? new Map<number, EventDelivery[]>()
        : await findEventDeliveries(database, applicationId, positions);
    const deliveriesOf = (position: number) => (found.get(position) ?? []).map(toDelivery);
    return items.map(({ emitted, position }) => ({ ...emitted, deliveries: deliveriesOf(position) }));
  }

  return [
    route({
      ...shared,
      method: 'GET',
      path: base,
      operationId: 'listApplicationEvents',
      summary: 'List the events of an application, oldest first',
      description:
        'Without a cursor it starts with the oldest event that is kept, or with `from=newest` gives the newest ones; `subject` ' +
        'gives the events of one record. In the sandbox this makes the application listen. Elsewhere a page is empty until ' +
        'it listens.',
      query: Type.Object({ ...pageQuery, ...eventFilters, from: fromEnd }),
      answers: { 200: { description: 'A page of events', schema: pageSchema } },
      refuses: { CURSOR_EXPIRED: 'Events may be missing after the cursor' },
      handler: async (call) => {
        await requireOwnBy(call);
        const { cursor, limit, from } = call.query;
        const filter = readEventFilter(call.query);
        if (from !== undefined && cursor !== undefined) throw invalidField('from', 'must be without a cursor');
        const position = cursor === undefined ? undefined : await reads.readCursor(call.params.id, cursor, 'cursor');
        const listener = await listenerOf(call.params.id);
        if (listener === undefined) return { status: 200, body: { data: [], next_cursor: null, listening: false } };
        const span = await (position === undefined
          ? reads.spanFromOldest(listener)
          : reads.spanAfter(listener, position));
        const { items, readTo } =
          from === 'newest'
            ? { items: await reads.readNewest(call.params.id, span, filter, limit), readTo: span.upTo }
            : await reads.readPage(call.params.id, span, filter, limit);
        const data = await withDeliveries(call.params.id, items);
        return { status: 200, body: { data, next_cursor: reads.cursorAt(call.params.id, readTo), listening: true } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/{event_id}`,
      operationId: 'getApplicationEvent',
      summary: 'Read an event, and the webhooks that it was sent to',
      params: Type.Object({ ...params.properties, event_id: pathParameter }),
      answers: { 200: { description: 'The event', schema: portalEventSchema } },
      handler: async (call) => {
        await requireOwnBy(call);
        const found = await reads.readOne(call.params.id, call.params.event_id);
        if (found === undefined) throw notFound();
        const [event] = await withDeliveries(call.params.id, [found]);
        return { status: 200, body: event };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/listening`,
      operationId: 'listenToEvents',
      summary: 'Make an application listen for the next 7 days, as a read of its feed does',
      answers: { 200: { description: 'From now on every change has its event', schema: listeningSchema } },
      handler: async (call) => {
        await requireOwnBy(call);
        await listeners.readFeed(call.params.id);
        return { status: 200, body: { listening: true } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/stream`,
      operationId: 'streamApplicationEvents',
      summary: 'Stream the events of an application as server-sent events',
      description: 'They count among the 5 streams of the application. 409 `INCOMPATIBLE_STATE` if it does not listen.',
      stream: true,
      query: Type.Object({ cursor: pageQuery.cursor, ...eventFilters }),
      answers: {
        200: {
          description: 'One server-sent event per event, of its type',
          type: 'text/event-stream',
          example: eventStreamExample,
        },
      },
      refuses: {
        INCOMPATIBLE_STATE: 'The application does not listen',
        TOO_MANY_STREAMS: 'The application has 5 open streams of events on this node',
        CURSOR_EXPIRED: 'Events may be missing after the cursor',
      },
      handler: async (call) => {
        await requireOwnBy(call);
        const applicationId = call.params.id;
        const filter = readEventFilter(call.query);
        const position = await readStreamPosition(reads, applicationId, call, call.query.cursor);
        const listener = await listenerOf(applicationId);
        if (listener === undefined) throw notListening();
        const { after } = await (position === undefined ? reads.spanFromNow() : reads.spanAfter(listener, position));
        if (call.method === 'HEAD') return streamReply('');
        const stream = await streams.open({
          applicationId,
          filter,
          after,
          returning: position !== undefined,
          listens: listensByReading,
          signal: call.signal,
          onCredentialEnd: (act) => call.onCredentialEnd(act),
          mayRead: async () => (await requireOwnBy(call)) !== undefined,
        });
        return streamReply(stream);
      },
    }),
  ];
}

function toDelivery({ webhook: { id, url }, status, attempts }: EventDelivery): EventDeliveryRecord {
  return { webhook_id: id, url, status, attempts };
}

function notListening(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'The application does not listen: its changes write no events.');
}
