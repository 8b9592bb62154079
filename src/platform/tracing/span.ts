import type { SpanIds } from './trace-context.ts';

/** The numbers of OTLP. */
export const spanKinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
export type SpanKind = keyof typeof spanKinds;

/**
 * All that a span may say. Values are ids, names, statuses and counts of ours: never a phone number, a text, a code, a
 * secret or an address.
 */
export const attributeNames = [
  'error.type',
  'heliograph.api',
  'heliograph.application_id',
  'heliograph.attempt',
  'heliograph.carrier',
  'heliograph.correlation_id',
  'heliograph.event_id',
  'heliograph.event_type',
  'heliograph.lane',
  'heliograph.message_id',
  'heliograph.outcome',
  'heliograph.segments',
  'heliograph.status',
  'heliograph.texts',
  'heliograph.verification_id',
  'heliograph.webhook_id',
  'http.request.method',
  'http.response.status_code',
  'http.route',
] as const;
export type AttributeName = (typeof attributeNames)[number];
export type SpanAttributes = { readonly [Name in AttributeName]?: string | number | undefined };

/** A span that has ended. Times are steady. All have the same fields in the same order, which makes them quick to read. */
export interface EndedSpan {
  ids: SpanIds;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  failed: boolean;
}
