import { type Static, Type } from 'typebox';
import { type EventType, eventTypes, type StoredEvent } from '../../events/event.ts';
import { nullable, recordId } from '../../http/list-page.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { ReceivedAnswer } from '../../platform/http-out/received-answer.ts';
import { fixedHeaders } from '../../webhooks/attempt.ts';
import type { InspectedDelivery, ShownDelivery } from '../../webhooks/deliveries.ts';
import { showBody, showControls } from '../../webhooks/shown-answer.ts';
import {
  type Attempt,
  type DeliveryStatus,
  type DisabledReason,
  deliveryStatuses,
  disabledReasons,
  type Webhook,
  type WebhookSecret,
  type WebhookStatus,
  webhookStatuses,
} from '../../webhooks/webhook.ts';

export const eventType = Type.Unsafe<EventType>({
  type: 'string',
  enum: [...eventTypes],
  // Short, because the answer repeats it for each wrong entry of a list.
  expected: 'a type of event, such as message.delivered',
});

/** Empty for all types. */
export const typeList = Type.Array(eventType, {
  maxItems: eventTypes.length,
  expected: `a list of up to ${eventTypes.length} types of events; empty for all`,
});

const secretSchema = Type.Object(
  {
    id: Type.String(),
    created_at: Type.String(),
    ends_at: nullable(Type.String()),
  },
  { title: 'WebhookSecret' },
);
export type WebhookSecretRecord = Static<typeof secretSchema>;

export const webhookSchema = Type.Object(
  {
    id: recordId('whk'),
    url: Type.String(),
    types: Type.Array(eventType, { description: 'Empty for all' }),
    description: nullable(Type.String()),
    status: Type.Unsafe<WebhookStatus>({ type: 'string', enum: [...webhookStatuses] }),
    disabled_reason: Type.Unsafe<DisabledReason | null>({
      type: ['string', 'null'],
      enum: [...disabledReasons, null],
      description: 'gone: it answered 410. no_success: no attempt succeeded for 5 days',
    }),
    disabled_at: nullable(Type.String()),
    failing_since: nullable(Type.String({ description: 'The first failed attempt since the last success' })),
    last_success_at: nullable(Type.String()),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Webhook' },
);
export type WebhookRecord = Static<typeof webhookSchema>;

export const webhookDetailSchema = Type.Object(
  {
    ...webhookSchema.properties,
    secrets: Type.Array(secretSchema, { description: 'Secrets that sign now, newest first' }),
  },
  { title: 'WebhookDetail' },
);
export type WebhookDetail = Static<typeof webhookDetailSchema>;

const secret = Type.String({
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  description: 'whsec_…, shown only once',
});
export const newWebhookSchema = Type.Object({ ...webhookDetailSchema.properties, secret }, { title: 'NewWebhook' });
export type NewWebhookRecord = Static<typeof newWebhookSchema>;
export const newSecretSchema = Type.Object({ ...secretSchema.properties, secret }, { title: 'NewWebhookSecret' });
export type NewWebhookSecret = Static<typeof newSecretSchema>;

const attemptSchema = Type.Object(
  {
    time: Type.String(),
    status_code: nullable(Type.Integer({ description: 'Null if no answer came' })),
    milliseconds: Type.Integer(),
    error: nullable(Type.String({ description: 'Null for a success' })),
  },
  { title: 'WebhookAttempt' },
);
export type WebhookAttempt = Static<typeof attemptSchema>;

export const testSchema = Type.Object(
  {
    outcome: Type.Unsafe<'delivered' | 'failed'>({ type: 'string', enum: ['delivered', 'failed'] }),
    event_id: Type.String(),
    ...attemptSchema.properties,
  },
  { title: 'WebhookTest' },
);
export type WebhookTest = Static<typeof testSchema>;

export const deliveryStatus = Type.Unsafe<DeliveryStatus>({
  type: 'string',
  enum: [...deliveryStatuses],
  expected: `one of ${deliveryStatuses.join(', ')}`,
  description: 'Its outcome',
});

export const deliverySchema = Type.Object(
  {
    event_id: Type.String(),
    type: eventType,
    subject: Type.String(),
    sequence: Type.Integer(),
    time: Type.String({ description: 'When the record changed' }),
    status: deliveryStatus,
    attempts: Type.Array(attemptSchema, { description: 'The newest 20, oldest first' }),
    next_attempt_at: nullable(Type.String()),
    to: nullable(Type.String({ description: 'The phone number of its record' })),
  },
  { title: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof deliverySchema>;

const headerList = Type.Array(
  Type.Object(
    { name: Type.String({ examples: ['content-type'] }), value: Type.String({ examples: ['application/json'] }) },
    { title: 'HttpHeader' },
  ),
);

const inspectedAttemptSchema = Type.Object(
  {
    ...attemptSchema.properties,
    request_headers: headerList,
    response: Type.Unsafe<InspectedAnswer | null>({
      title: 'WebhookAnswer',
      type: ['object', 'null'],
      required: ['headers', 'body', 'is_cut'],
      description: 'Null if none came, or it is no longer kept. Control characters are shown as signs',
      properties: {
        headers: headerList,
        body: Type.String({ description: 'Its first 2 kB', examples: ['{"ok":true}'] }),
        is_cut: Type.Boolean({ description: 'Whether it was longer' }),
      },
    }),
  },
  { title: 'InspectedAttempt' },
);

interface InspectedAnswer {
  headers: { name: string; value: string }[];
  body: string;
  is_cut: boolean;
}

export const inspectedSchema = Type.Object(
  {
    ...deliverySchema.properties,
    url: Type.String(),
    request_body: Type.String({
      description: 'What the webhook gets, rendered now',
      examples: ['{"type":"message.delivered"}'],
    }),
    attempts: Type.Array(inspectedAttemptSchema, { description: 'The newest 20, oldest first' }),
  },
  { title: 'InspectedDelivery' },
);
export type InspectedDeliveryRecord = Static<typeof inspectedSchema>;

export function toWebhook(webhook: Webhook): WebhookRecord {
  return {
    id: webhook.id,
    url: webhook.url,
    types: webhook.types,
    description: webhook.description,
    status: webhook.status,
    disabled_reason: webhook.disabledReason,
    disabled_at: timestampOrNull(webhook.disabledAtMs),
    failing_since: timestampOrNull(webhook.failingSinceMs),
    last_success_at: timestampOrNull(webhook.lastSuccessAtMs),
    created_at: toTimestamp(webhook.createdAtMs),
    updated_at: toTimestamp(webhook.updatedAtMs),
  };
}

export function toSecret({ id, createdAtMs, endsAtMs }: WebhookSecret): WebhookSecretRecord {
  return { id, created_at: toTimestamp(createdAtMs), ends_at: timestampOrNull(endsAtMs) };
}

export function toAttempt({ timeMs, statusCode, milliseconds, error }: Attempt): WebhookAttempt {
  return { time: toTimestamp(timeMs), status_code: statusCode, milliseconds, error };
}

/** The headers of an attempt. Its signature is not kept: a body that was masked since would have another one. */
function requestHeaders(eventId: string, { timeMs }: Attempt) {
  const sent = { ...fixedHeaders, 'webhook-id': eventId, 'webhook-timestamp': String(Math.floor(timeMs / 1000)) };
  return Object.entries({ ...sent, 'webhook-signature': 'v1,…' }).map(([name, value]) => ({ name, value }));
}

function toAnswer({ headers, body, isCut }: ReceivedAnswer): InspectedAnswer {
  const shown = headers.map(([name, value]) => ({ name: showControls(name), value: showControls(value) }));
  return { headers: shown, body: showBody(body, isCut), is_cut: isCut };
}

export function toInspected(inspected: InspectedDelivery, numbers: ReadonlyMap<string, string>) {
  const { eventId, delivery, answers, url, body } = inspected;
  return {
    ...toDelivery(inspected, numbers),
    url,
    request_body: body,
    attempts: delivery.attempts.map((attempt) => {
      const answer = answers.get(attempt.timeMs);
      const headers = requestHeaders(eventId, attempt);
      return { ...toAttempt(attempt), request_headers: headers, response: answer ? toAnswer(answer) : null };
    }),
  };
}

function numberOf({ subject, data }: StoredEvent, numbers: ReadonlyMap<string, string>): string | null {
  const known = numbers.get(subject);
  if (known !== undefined) return known;
  return data !== null && 'number' in data && typeof data.number === 'string' ? data.number : null;
}

export function toDelivery(
  { eventId, event, delivery }: ShownDelivery,
  numbers: ReadonlyMap<string, string>,
): WebhookDelivery {
  return {
    event_id: eventId,
    type: event.type,
    subject: event.subject,
    sequence: event.sequence,
    time: toTimestamp(event.timeMs),
    status: delivery.status,
    attempts: delivery.attempts.map(toAttempt),
    next_attempt_at: timestampOrNull(delivery.nextAttemptAtMs),
    to: numberOf(event, numbers),
  };
}
