import { hourMs } from '../platform/clock.ts';
import { backOffMs } from './back-off.ts';
import type { SubmitResult } from './carrier.ts';
import type { AttemptResult, ClaimedMessage } from './delivery-store.ts';

/** A text without a receipt for this long becomes `unknown`. */
const receiptWithinMs = 72 * hourMs;
const backOff = { fromMs: 1000, toMs: 300_000 };

/**
 * Turns a carrier's answer into a result; undefined when there is no usable answer, so the claim is in doubt. Carriers
 * send odd data: one bad answer must not block the rest of the batch.
 */
export function attemptResultOf(
  claim: ClaimedMessage,
  answer: SubmitResult | undefined,
  nowMs: number,
): AttemptResult | undefined {
  const base = { messageId: claim.id, attempt: claim.attempt, carrierMessageId: null, error: null };
  if (answer?.outcome === 'accepted') {
    const carrierMessageId = readCarrierId(answer.carrierMessageId);
    return { ...base, status: 'sent', carrierMessageId, dueAtMs: nowMs + receiptWithinMs };
  }
  if (answer?.outcome === 'never') return { ...base, status: 'failed', error: answer.error, dueAtMs: null };
  if (answer?.outcome !== 'retry') return undefined;
  return { ...base, status: 'queued', dueAtMs: nextTryAtMs(claim, nowMs, answer.afterMs) };
}

/** The text never left, so it goes back to the queue. */
export function notSubmitted({ id, attempt }: ClaimedMessage, dueAtMs: number): AttemptResult {
  return { messageId: id, attempt, status: 'queued', carrierMessageId: null, error: null, dueAtMs };
}

/** Not before the carrier's own delay, and not after the text's validity, when the next claim expires it. */
export function nextTryAtMs({ attempt, expiresAtMs }: ClaimedMessage, nowMs: number, afterMs = 0): number {
  const leastMs = Number.isNaN(afterMs) ? 0 : Math.max(0, afterMs);
  return Math.min(nowMs + leastMs + backOffMs(attempt, backOff), expiresAtMs);
}

const longestCarrierId = 255;

/** Makes an id storable: Postgres rejects NUL, and its index entries have a maximum size. */
export function readCarrierId(id: string): string {
  return id.replaceAll('\0', '').slice(0, longestCarrierId);
}
