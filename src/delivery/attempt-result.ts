import { backOffMs } from './back-off.ts';
import type { SubmitResult } from './carrier.ts';
import type { ClaimedText, EndedText, QueueEntry, ScheduledText } from './queue-entry.ts';

const backOff = { fromMs: 1000, toMs: 300_000 };
/** A carrier that asks us to slow down without saying how long gets this pause. */
const throttledMs = 1000;

/** Stops resending a text whose worker always dies: the text may be the cause. */
const mostResends = 5;

/**
 * What to do with a claimed text. One that may have been sent already is in doubt: a verification's text is then sent
 * again while valid (same code); a plain text once if the carrier did not answer, and up to `mostResends` times if its
 * worker died, as it may never have left; not at all under `at_most_once`.
 */
export function actionFor(
  { message, entry }: ClaimedText,
  { nowMs, atMostOnce }: { nowMs: number; atMostOnce: boolean },
): 'submit' | 'expire' | 'give_up' {
  const expired = message.expiresAtMs <= nowMs;
  if (!entry.inDoubt) return expired ? 'expire' : 'submit';
  if (expired) return 'give_up';
  const sentEnough = atMostOnce || entry.unanswered > 1 || entry.possibleDuplicates >= mostResends;
  return message.api !== 'verify' && sentEnough ? 'give_up' : 'submit';
}

/** The entry as it is while the carrier has the text. */
export function submittedEntry(entry: QueueEntry): QueueEntry {
  const possibleDuplicates = entry.possibleDuplicates + (entry.inDoubt ? 1 : 0);
  return { ...entry, attempt: entry.attempt + 1, possibleDuplicates };
}

export type AttemptResult = { ended: EndedText } | { again: ScheduledText; inDoubt: boolean };

/**
 * Turns a carrier's answer into a result; a text without a usable answer is in doubt. Carriers send odd data: one bad
 * answer must not block the rest of the batch.
 */
export function attemptResultOf(
  { message, entry: claimed }: ClaimedText,
  answer: SubmitResult | undefined,
  nowMs: number,
): AttemptResult {
  const entry = { ...submittedEntry(claimed), inDoubt: false };
  const sendAgain = (dueAtMs: number) => ({
    again: { entry, dueAtMs: Math.min(dueAtMs, message.expiresAtMs) },
    inDoubt: false,
  });
  switch (answer?.outcome) {
    case 'accepted': {
      const carrierMessageId = readCarrierId(answer.carrierMessageId);
      return { ended: { entry, status: 'sent', carrierMessageId, error: null } };
    }
    case 'never':
      return { ended: { entry, status: 'failed', carrierMessageId: null, error: answer.error } };
    case 'throttled':
      return sendAgain(nowMs + atLeast(answer.afterMs, throttledMs));
    case 'retry':
      return sendAgain(nowMs + atLeast(answer.afterMs, 0) + backOffMs(entry.attempt, backOff));
    default: {
      const doubtful = { ...entry, inDoubt: true, unanswered: entry.unanswered + 1 };
      const dueAtMs = Math.min(nowMs + backOffMs(entry.attempt, backOff), message.expiresAtMs);
      return { again: { entry: doubtful, dueAtMs }, inDoubt: true };
    }
  }
}

/** The text never left, so it goes back as it was. */
export function notSubmitted({ message, entry }: ClaimedText, nowMs: number, late: boolean): ScheduledText {
  const dueAtMs = late ? nowMs : Math.min(nowMs + backOffMs(entry.attempt + 1, backOff), message.expiresAtMs);
  // A text that could not be rendered counts as tried: its pauses grow.
  return { entry: late ? entry : { ...entry, attempt: entry.attempt + 1 }, dueAtMs };
}

function atLeast(ms: number | undefined, leastMs: number): number {
  return ms === undefined || Number.isNaN(ms) ? leastMs : Math.max(leastMs, ms);
}

const longestCarrierId = 255;

/** Makes an id storable: Postgres rejects NUL and half characters, and its index entries have a maximum size. */
export function readCarrierId(id: string): string {
  return id.replaceAll('\0', '').slice(0, longestCarrierId).toWellFormed();
}
