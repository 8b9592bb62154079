import { backOffMs } from '../carrier/back-off.ts';
import type { LongText, SubmitResult } from '../carrier/carrier.ts';
import { codeWaitMs } from '../carrier/code-patience.ts';
import { type CarrierId, readCarrierId } from '../carrier/id.ts';
import type { NextCarrier } from '../routing/next-carrier.ts';
import { attemptOf, unavailableAttempt } from './attempt.ts';
import type { ClaimedText, EndedText, QueueEntry, ScheduledText } from './queued-text.ts';

const backOff = { fromMs: 1000, toMs: 300_000 };
/** A carrier that asks us to slow down without saying how long gets this pause. */
const throttledMs = 1000;

/** Bounds the resends of a text whose worker died each time: the text may be the cause. */
const mostResends = 5;

/**
 * Decides what to do with a claimed text. A text that may have been sent already is in doubt: a verification's text is
 * then sent again while valid (same code); a plain text once if the carrier did not answer, and up to `mostResends`
 * times if its worker died, as it may never have left; not at all under `at_most_once`.
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
  /** When the carrier got the text. */
  submittedAtMs?: number;
  /** The next carrier of the text; undefined if there is none. Called only if the text may move. */
  nextCarrier?: (claimed: ClaimedText) => NextCarrier | undefined;
  /** Whether the carrier can send at present. */
  isDown?: () => boolean;
  /** The carrier was deleted. */
  isClosed?: boolean;
  /** Whether a code without an answer may be sent a second time now. */
  mayCopy?: (claimed: ClaimedText) => boolean;
  /** How long a plain text in doubt waits for a late answer or a receipt. Otherwise the pauses grow. */
  doubtAfterMs?: number | undefined;
}

/** Maximum number of moves of a text. */
export const mostMoves = 1;
/** A code that may not be copied waits this much longer for its answer. */
const silenceMs = 25_000;

/**
 * Turns a carrier's answer into a result; a text without a usable answer is in doubt. Carriers send odd data: one bad
 * answer must not block the rest of the batch.
 */
export function attemptResultOf(
  claimed: ClaimedText,
  answer: SubmitResult | undefined,
  options: ResultOptions,
): AttemptResult {
  const { nowMs, carrier, submittedAtMs = nowMs, doubtAfterMs } = options;
  const { message } = claimed;
  const isCode = message.api === 'verify';
  const entry = { ...submittedEntry(claimed.entry), inDoubt: false };
  const long = answer?.long && readLong(answer.long);
  const attempt = attemptOf(entry, answer, { carrier, submittedAtMs });
  const { status: before, isReported } = message;
  const end = (status: EndedText['status'], error: EndedText['error'], ids: AcceptedIds = noIds): AttemptResult => ({
    ended: { entry, status, error, ...ids, long, attempt, wasSent: before === 'sent', isReported },
  });
  const sendAgain = (afterMs: number, next: QueueEntry = entry): AttemptResult => ({
    again: { entry: next, carrier, dueAtMs: Math.min(nowMs + afterMs, message.expiresAtMs), long, attempt },
  });
  const move = (next: QueueEntry = entry) => moveOn(claimed, next, answer, options);
  switch (answer?.outcome) {
    case 'accepted':
      return end('sent', null, readIds(answer));
    case 'never': {
      // Another carrier may deliver what this one filters or has old data for. A recipient's refusal holds for all
      // carriers.
      const mayMove = isCode && answer.error !== 'blocked_by_recipient' && !isPartTaken(claimed, answer);
      return (mayMove ? move() : undefined) ?? end('failed', answer.error);
    }
    case 'not_sent': {
      const moved = isCode && options.isDown?.() ? move() : undefined;
      // Records which parts were sent, for the next attempt.
      const isInDoubt = claimed.entry.inDoubt && long?.parts.some(({ state }) => state === 'in_doubt') === true;
      const next = long === undefined ? claimed.entry : { ...entry, inDoubt: isInDoubt };
      const dueAtMs = Math.min(nowMs + atLeast(answer.afterMs, 0), Math.max(nowMs, message.expiresAtMs));
      return moved ?? { again: { entry: next, carrier, dueAtMs, long, attempt: undefined, submit: entry.attempt } };
    }
    case 'throttled': {
      const waitMs = atLeast(answer.afterMs, throttledMs);
      return (isCode && waitMs > codeWaitMs ? move() : undefined) ?? sendAgain(waitMs);
    }
    case 'retry': {
      const isRefused = answer.elsewhere === true && answer.error !== 'carrier_unavailable';
      const moved = isCode || isRefused || options.isClosed ? move() : undefined;
      if (moved !== undefined) return moved;
      // This carrier refuses the text, and there is no other carrier.
      if (isRefused) return end('failed', answer.error);
      return sendAgain(atLeast(answer.afterMs, 0) + backOffMs(entry.attempt, backOff));
    }
    default: {
      const doubtful = { ...entry, inDoubt: true, unanswered: entry.unanswered + 1 };
      const againMs = backOffMs(entry.attempt, backOff);
      if (!isCode) return sendAgain(doubtAfterMs ?? againMs, doubtful);
      // A second copy of a code does no harm: it is the same code. A carrier that is only slow must not cost double.
      const isSilent = answer?.outcome === 'in_doubt' && answer.silent === true;
      const mayCopy = !isSilent || (claimed.entry.unanswered === 0 && (options.mayCopy?.(claimed) ?? true));
      if (!mayCopy) return sendAgain(silenceMs, doubtful);
      return move(doubtful) ?? sendAgain(againMs, doubtful);
    }
  }
}

/**
 * Moves the text to the queue of its next carrier, which sends all parts; undefined if it has to stay. A plain text that
 * may have been sent already stays: only a code may be sent twice.
 */
function moveOn(
  claimed: ClaimedText,
  next: QueueEntry,
  answer: SubmitResult | undefined,
  { nowMs, carrier: from, submittedAtMs = nowMs, nextCarrier }: ResultOptions,
): AttemptResult | undefined {
  const parts = answer?.long?.parts ?? claimed.parts;
  const mayHaveBeenSent = next.inDoubt || next.possibleDuplicates > 0 || parts.length > 0;
  if (next.moves >= mostMoves || (claimed.message.api !== 'verify' && mayHaveBeenSent)) return undefined;
  const to = nextCarrier?.(claimed);
  if (to === undefined) return undefined;
  const about = { carrier: from, submittedAtMs };
  const attempt = { ...(attemptOf(next, answer, about) ?? unavailableAttempt(next, from, nowMs)), next: to };
  const entry = { ...next, moves: next.moves + 1 };
  return { again: { entry, carrier: to.carrier, dueAtMs: nowMs, long: undefined, attempt, isMoved: true } };
}

/** The carrier is down, so the text moves on without a submit. Undefined if it has to stay. */
export function moveUnsent(claimed: ClaimedText, options: ResultOptions): ScheduledText | undefined {
  const entry = { ...claimed.entry, attempt: claimed.entry.attempt + 1 };
  const moved = moveOn(claimed, entry, { outcome: 'not_sent' }, options);
  return moved && 'again' in moved ? moved.again : undefined;
}

function isPartTaken({ parts }: ClaimedText, { long }: SubmitResult): boolean {
  return (long?.parts ?? parts).some(({ state }) => state === 'accepted');
}

interface AcceptedIds {
  carrierMessageId: CarrierId | null;
  receiptKey: CarrierId | null;
}

const noIds: AcceptedIds = { carrierMessageId: null, receiptKey: null };

function readIds({ carrierMessageId, receiptKey }: Extract<SubmitResult, { outcome: 'accepted' }>): AcceptedIds {
  return {
    carrierMessageId: readCarrierId(carrierMessageId),
    receiptKey: readCarrierId(receiptKey ?? carrierMessageId),
  };
}

function readLong(long: LongText): LongText<CarrierId> {
  const read = (id: string | null) => (id === null ? null : readCarrierId(id));
  const parts = long.parts.map(({ part, state, carrierMessageId, receiptKey }) => {
    return { part, state, carrierMessageId: read(carrierMessageId), receiptKey: read(receiptKey) };
  });
  return { ...long, parts };
}

/** Schedules a text again that was too late to be submitted, or could not be rendered. */
export function notSubmitted(
  { message, entry }: ClaimedText,
  { nowMs, carrier, late }: { nowMs: number; carrier: string; late: boolean },
): ScheduledText {
  const dueAtMs = late ? nowMs : Math.min(nowMs + backOffMs(entry.attempt + 1, backOff), message.expiresAtMs);
  // A text that could not be rendered counts as tried: its pauses grow.
  const tried = late ? entry : { ...entry, attempt: entry.attempt + 1 };
  return { entry: tried, carrier, dueAtMs, long: undefined, attempt: undefined };
}

/**
 * The carrier's texts to this country do not get through: the text waits until the breaker closes, and does not count
 * as tried.
 */
export function heldBack(
  { message, entry }: ClaimedText,
  { nowMs, carrier, restMs }: { nowMs: number; carrier: string; restMs: number },
) {
  const dueAtMs = Math.min(nowMs + restMs, message.expiresAtMs);
  return { entry, carrier, dueAtMs, long: undefined, attempt: undefined } satisfies ScheduledText;
}

/** The text waits for the hours of its route, and does not count as tried. It expires if they begin too late. */
export function deferred({ message, entry }: ClaimedText, { opensMs, carrier }: { opensMs: number; carrier: string }) {
  const dueAtMs = Math.min(opensMs, message.expiresAtMs);
  return { entry, carrier, dueAtMs, long: undefined, attempt: undefined } satisfies ScheduledText;
}

function atLeast(ms: number | undefined, leastMs: number): number {
  return ms === undefined || Number.isNaN(ms) ? leastMs : Math.max(leastMs, ms);
}
