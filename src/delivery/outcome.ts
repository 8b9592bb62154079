import { backOffMs } from './back-off.ts';
import type { SubmitResult } from './carrier.ts';
import type { Claimed, Result } from './delivery-store.ts';

/** Without a receipt for so long, what became of a text is unknown. */
const receiptWithinMs = 72 * 3_600_000;
const backOff = { fromMs: 1000, toMs: 300_000 };

/**
 * What a carrier's answer makes of a claim; undefined when it is no answer, so that nobody knows. A carrier's words come
 * from outside: one odd answer must not keep its neighbours from being written down.
 */
export function resultOf(claim: Claimed, answer: SubmitResult | undefined, nowMs: number): Result | undefined {
  const base = { messageId: claim.id, attempt: claim.attempt, carrierMessageId: null, error: null };
  if (answer?.outcome === 'accepted') {
    const carrierMessageId = readCarrierId(answer.carrierMessageId);
    return { ...base, status: 'sent', carrierMessageId, dueAtMs: nowMs + receiptWithinMs };
  }
  if (answer?.outcome === 'never') return { ...base, status: 'failed', error: answer.error, dueAtMs: null };
  if (answer?.outcome !== 'retry') return undefined;
  return { ...base, status: 'queued', dueAtMs: nextTryAtMs(claim, nowMs, answer.afterMs) };
}

/** It never left, so it may go again as if nothing had been. */
export function notSubmitted({ id, attempt }: Claimed, dueAtMs: number): Result {
  return { messageId: id, attempt, status: 'queued', carrierMessageId: null, error: null, dueAtMs };
}

/** Never before the carrier wants it, and never after the text's validity: then it is due to expire. */
export function nextTryAtMs({ attempt, expiresAtMs }: Claimed, nowMs: number, afterMs = 0): number {
  const leastMs = Number.isNaN(afterMs) ? 0 : Math.max(0, afterMs);
  return Math.min(nowMs + leastMs + backOffMs(attempt, backOff), expiresAtMs);
}

const longestCarrierId = 255;

/** As it can be stored and looked up: a database has no NUL, and its indexes nothing of some thousand characters. */
export function readCarrierId(id: string): string {
  return id.replaceAll('\0', '').slice(0, longestCarrierId);
}
