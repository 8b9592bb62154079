import type { EmittedEvent } from '../events/event.ts';
import type { Clock } from '../platform/clock.ts';
import { signatureHeaders } from '../platform/crypto/webhook-signature.ts';
import type { CallAnswer, GuardedClient } from '../platform/http-out/client.ts';
import type { ReceivedAnswer } from '../platform/http-out/received-answer.ts';
import { readRetryAfter, waitAfterMs } from './schedule.ts';
import type { SigningSecret } from './secret-store.ts';
import type { Attempt, Delivery } from './webhook.ts';

/** `gone`: the endpoint answered 410 and wants no more calls. */
export type Outcome = 'delivered' | 'failed' | 'gone';

export interface Attempted extends Attempt {
  outcome: Outcome;
  /** The wait that a 429 or 503 asked for. */
  retryAfterMs: number | undefined;
  /** The beginning of the answer; undefined if none came. */
  received?: ReceivedAnswer | undefined;
}

export interface AttemptTarget {
  url: string;
  secrets: readonly SigningSecret[];
  /** For an event in a sampled trace. */
  traceparent?: string | undefined;
}

/** The headers of every call, beside those of its signature. */
export const fixedHeaders = { 'content-type': 'application/json', 'user-agent': 'heliograph' };

/** Signs an event with the secrets that have not expired, and sends it once. */
export async function attempt(
  { client, clock }: { client: GuardedClient; clock: Clock },
  { url, secrets, traceparent }: AttemptTarget,
  event: EmittedEvent,
  signal?: AbortSignal,
): Promise<Attempted> {
  const timeMs = clock.nowMs();
  const body = JSON.stringify(event);
  const live = secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > timeMs).map(({ secret }) => secret);
  const signed = signatureHeaders(live, { id: event.id, timestampSeconds: Math.floor(timeMs / 1000), body });
  const headers = { ...fixedHeaders, ...signed, ...(traceparent !== undefined && { traceparent }) };
  const answer = await client.call({ url, headers, body, ...(signal && { signal }) });
  return { ...answerOf(answer, clock.nowMs()), timeMs };
}

export function answerOf(
  { statusCode, milliseconds, error, retryAfter, received }: CallAnswer,
  nowMs: number,
): Omit<Attempted, 'timeMs'> {
  const outcome: Outcome = error === null ? 'delivered' : statusCode === 410 ? 'gone' : 'failed';
  const mayAsk = statusCode === 429 || statusCode === 503;
  return {
    statusCode,
    milliseconds,
    error,
    outcome,
    retryAfterMs: mayAsk ? readRetryAfter(retryAfter, nowMs) : undefined,
    received,
  };
}

/** The outcome in metrics: also whether the endpoint answered. */
export function countedOutcome({ outcome, statusCode }: Attempted): 'delivered' | 'refused' | 'unanswered' {
  if (outcome === 'delivered') return 'delivered';
  return statusCode === null ? 'unanswered' : 'refused';
}

/** The delivery after an attempt. */
export function afterAttempt(
  delivery: Delivery,
  { timeMs, statusCode, milliseconds, error, outcome, retryAfterMs }: Attempted,
  { nowMs, fraction }: { nowMs: number; fraction: number },
): Delivery {
  const attemptCount = delivery.attemptCount + 1;
  const attempts = [...delivery.attempts, { timeMs, statusCode, milliseconds, error }];
  const done = { ...delivery, attemptCount, attempts, nextAttemptAtMs: null };
  if (outcome === 'delivered') return { ...done, status: 'delivered' };
  const waitMs = waitAfterMs(attemptCount, { fraction, retryAfterMs });
  if (waitMs === undefined || outcome === 'gone') return { ...done, status: 'failed' };
  return { ...done, status: 'waiting', nextAttemptAtMs: nowMs + waitMs };
}
