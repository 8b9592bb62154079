import type { Message } from './message.ts';
import type { Segments } from './text/text.ts';
import type { TextRoute } from './text/text-route.ts';

/** The fields that differ between new messages: the caller's request, and its route. */
export interface NewMessage
  extends Pick<
    Message,
    'id' | 'applicationId' | 'api' | 'channel' | 'to' | 'sender' | 'correlationId' | 'expiresAtMs' | 'lane'
  > {
  nowMs: number;
  segments: Segments;
  route: TextRoute;
  /** Null for a verification's text, which has a template. */
  body: string | null;
  verification?: { id: string; template: object };
  reference?: string | null;
  trace?: string | undefined;
  /** When the caller wants it sent; null for at once. */
  sendAtMs?: number | null;
}

/** Builds the row of a message that has just been accepted. */
export function newMessage(given: NewMessage): Message {
  const { nowMs, segments, route, verification, sendAtMs = null, expiresAtMs } = given;
  return {
    id: given.id,
    applicationId: given.applicationId,
    api: given.api,
    verificationId: verification?.id ?? null,
    channel: given.channel,
    to: given.to,
    sender: given.sender,
    sentAs: route.sentAs,
    body: given.body,
    template: verification?.template ?? null,
    status: sendAtMs === null ? 'queued' : 'scheduled',
    encoding: segments.encoding,
    segmentCount: segments.count,
    characters: segments.characters,
    remaining: segments.remaining,
    reference: given.reference ?? null,
    errorCode: null,
    correlationId: given.correlationId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    sentAtMs: null,
    deliveredAtMs: null,
    possibleDuplicates: 0,
    expiresAtMs,
    carrier: route.carrier,
    lane: given.lane,
    sendAtMs,
    // The worker defers a scheduled text when its time has come: it is `scheduled` until then, and `queued` after.
    deferredUntilMs: sendAtMs === null ? firstOf(route.deferredUntilMs, expiresAtMs) : null,
    routing: route.routing,
    trace: given.trace,
  };
}

/** A text that expires before it may leave ends at its expiry. */
function firstOf(deferredUntilMs: number | null, expiresAtMs: number): number | null {
  return deferredUntilMs === null ? null : Math.min(deferredUntilMs, expiresAtMs);
}
