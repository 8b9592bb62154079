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

export type AttemptResult = { ended: EndedText } | { again: ScheduledText };

export interface ResultOptions {
  nowMs: number;
  carrier: string;
  /** Another carrier that works; undefined if there is none. */
  nextCarrier?: string | undefined;
  /** How long a plain text in doubt waits for a late answer or a receipt. Otherwise the pauses grow. */
  doubtAfterMs?: number | undefined;
}

/** A text changes its carrier once at most. */
const mostMoves = 1;

/**
 * Turns a carrier's answer into a result; a text without a usable answer is in doubt. Carriers send odd data: one bad
 * answer must not block the rest of the batch.
 */
export function attemptResultOf(
  claimed: ClaimedText,
  answer: SubmitResult | undefined,
  { nowMs, carrier, nextCarrier, doubtAfterMs }: ResultOptions,
): AttemptResult {
  const { message } = claimed;
  const entry = { ...submittedEntry(claimed.entry), inDoubt: false };
  const long = answer?.long;
  const end = (status: EndedText['status'], error: EndedText['error'], ids?: AcceptedIds): AttemptResult => ({
    ended: {
      entry,
      status,
      error,
      carrierMessageId: ids?.carrierMessageId ?? null,
      receiptKey: ids?.receiptKey ?? null,
      long,
    },
  });
  const sendAgain = (afterMs: number, next: QueueEntry = entry): AttemptResult => ({
    again: { entry: next, carrier, dueAtMs: Math.min(nowMs + afterMs, message.expiresAtMs), long },
  });
  /** Only a text of which the carrier has taken no part goes to another one. */
  const move = (next: QueueEntry): AttemptResult | undefined => {
    const taken = (long?.parts ?? claimed.parts).length > 0;
    if (nextCarrier === undefined || entry.moves >= mostMoves || taken) return undefined;
    return {
      again: { entry: { ...next, moves: next.moves + 1 }, carrier: nextCarrier, dueAtMs: nowMs, long: undefined },
    };
  };
  switch (answer?.outcome) {
    case 'accepted':
      return end('sent', null, readIds(answer));
    case 'never':
      return end('failed', answer.error);
    case 'not_sent':
      // If some parts have left, the next attempt must know of them.
      return { again: { entry: long === undefined ? claimed.entry : entry, carrier, dueAtMs: nowMs, long } };
    case 'throttled':
      return sendAgain(atLeast(answer.afterMs, throttledMs));
    case 'retry': {
      const moved = answer.elsewhere ? move(entry) : undefined;
      if (moved !== undefined) return moved;
      // This carrier will not take it, and there is no other one.
      if (answer.elsewhere && answer.error !== 'carrier_unavailable') return end('failed', answer.error);
      return sendAgain(atLeast(answer.afterMs, 0) + backOffMs(entry.attempt, backOff));
    }
    default: {
      const doubtful = { ...entry, inDoubt: true, unanswered: entry.unanswered + 1 };
      // A second copy of a code does no harm: it is the same code.
      if (message.api === 'verify') return move(doubtful) ?? sendAgain(backOffMs(entry.attempt, backOff), doubtful);
      return sendAgain(doubtAfterMs ?? backOffMs(entry.attempt, backOff), doubtful);
    }
  }
}

interface AcceptedIds {
  carrierMessageId: string;
  receiptKey: string;
}

function readIds({ carrierMessageId, receiptKey }: Extract<SubmitResult, { outcome: 'accepted' }>): AcceptedIds {
  return {
    carrierMessageId: readCarrierId(carrierMessageId),
    receiptKey: readCarrierId(receiptKey ?? carrierMessageId),
  };
}

/** The text never left, so it goes back as it was. */
export function notSubmitted(
  { message, entry }: ClaimedText,
  { nowMs, carrier, late }: { nowMs: number; carrier: string; late: boolean },
): ScheduledText {
  const dueAtMs = late ? nowMs : Math.min(nowMs + backOffMs(entry.attempt + 1, backOff), message.expiresAtMs);
  // A text that could not be rendered counts as tried: its pauses grow.
  const tried = late ? entry : { ...entry, attempt: entry.attempt + 1 };
  return { entry: tried, carrier, dueAtMs, long: undefined };
}

function atLeast(ms: number | undefined, leastMs: number): number {
  return ms === undefined || Number.isNaN(ms) ? leastMs : Math.max(leastMs, ms);
}

const longestCarrierId = 255;

/** Makes an id storable: Postgres rejects NUL and half characters, and its index entries have a maximum size. */
export function readCarrierId(id: string): string {
  return id.replaceAll('\0', '').slice(0, longestCarrierId).toWellFormed();
}
