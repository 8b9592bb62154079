// Tests: test/contract/webhooks.test.ts, test/contract/portal-event-deliveries.test.ts
import { Type } from 'typebox';
import { pageQuery, pageSchema, pathParameter, readPage, toPage } from '../../http/list-page.ts';
import { exampleSpan } from '../../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { readTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalidField } from '../../platform/errors.ts';
import type { WebhookDeliveries } from '../../webhooks/deliveries.ts';
import { applicationParams } from './application-api.ts';
import { findNumbersOf } from './record-numbers.ts';
import {
  deliverySchema,
  deliveryStatus,
  inspectedSchema,
  toDelivery,
  toInspected,
  typeList,
} from './webhook-record.ts';

export interface WebhookDeliveryOptions {
  database: Database;
  deliveries: WebhookDeliveries;
  /** Throws a 404 for an application of another account. */
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const path = '/portal/v1/applications/{id}/webhooks/{webhook_id}';
const params = Type.Object({ ...applicationParams.properties, webhook_id: pathParameter });
const time = (example: string) =>
  Type.String({ maxLength: 35, expected: 'a time like 2026-01-31T12:00:00Z', examples: [example] });
const accepted = Type.Object({ status: Type.Literal('queued') }, { title: 'QueuedReplay' });
const refuses = { INCOMPATIBLE_STATE: 'The webhook is disabled, or has 5 replays under way, the maximum' };

/** The deliveries of a webhook, and how to replay them. */
export function createWebhookDeliveryRoutes({ database, deliveries, requireOwn }: WebhookDeliveryOptions): Route[] {
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: webhooks' } as const;
  const queued = { 202: { description: 'It will be sent again', schema: accepted } };
  return [
    route({
      ...shared,
      method: 'GET',
      path: `${path}/deliveries`,
      operationId: 'listWebhookDeliveries',
      summary: 'List deliveries with every attempt, newest event first',
      description:
        'An event is listed after its first attempt. A page with fewer entries than the limit may still have a next_cursor.',
      params,
      query: Type.Object({ status: Type.Optional(deliveryStatus), ...pageQuery }),
      answers: { 200: { description: 'A page of deliveries', schema: pageSchema(deliverySchema) } },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { limit, after } = readPage(call.query);
        const page = { limit: limit + 1, after };
        const { rows, searchedTo } = await deliveries.list(id, webhook_id, call.query.status, page);
        const found = rows.map((row) => ({ ...row, id: row.eventId }));
        const subjects = rows.map(({ event }) => event.subject);
        const numbers = await findNumbersOf(database, id, subjects);
        return { status: 200, body: toPage(found, limit, (row) => toDelivery(row, numbers), searchedTo) };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${path}/deliveries/{event_id}`,
      operationId: 'getWebhookDelivery',
      summary: 'Read a delivery: what was sent and what came back, for each attempt',
      description:
        'The body is rendered now. Answers of the endpoint are kept for 7 days; above one attempt a second, only a sample.',
      params: Type.Object({ ...params.properties, event_id: pathParameter }),
      answers: { 200: { description: 'The delivery with its attempts', schema: inspectedSchema } },
      handler: async (call) => {
        const { id, webhook_id, event_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const inspected = await deliveries.inspect(id, webhook_id, event_id);
        const numbers = await findNumbersOf(database, id, [inspected.event.subject]);
        return { status: 200, body: toInspected(inspected, numbers) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/deliveries/{event_id}/replay`,
      operationId: 'replayEvent',
      summary: 'Send an event again',
      params: Type.Object({ ...params.properties, event_id: pathParameter }),
      answers: queued,
      refuses,
      handler: async (call) => {
        const { id, webhook_id, event_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        await deliveries.replayOne(id, webhook_id, event_id);
        return { status: 202, body: { status: 'queued' } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/replay`,
      operationId: 'replayEvents',
      summary: 'Send the events of a span again',
      description: 'Oldest first, at most the events that are kept (7 days). Without types, all types of the webhook.',
      params,
      body: Type.Object(
        { since: time(exampleSpan.from), until: Type.Optional(time(exampleSpan.to)), types: Type.Optional(typeList) },
        { title: 'SpanToReplay' },
      ),
      answers: queued,
      refuses,
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { since, until, types = [] } = call.body;
        const [sinceMs, untilMs] = [
          readTime('since', since),
          until === undefined ? undefined : readTime('until', until),
        ];
        await deliveries.replaySpan(id, webhook_id, { sinceMs, untilMs, types });
        return { status: 202, body: { status: 'queued' } };
      },
    }),
  ];
}

function readTime(field: string, text: string): number {
  const ms = readTimestamp(text);
  if (ms === undefined) throw invalidField(field, 'must be a time like 2026-01-31T12:00:00Z');
  return ms;
}
