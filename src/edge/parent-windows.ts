import type { Duplex } from 'node:stream';
import type { LimitDecision, Limits } from '../http/admission.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import { unavailable } from '../platform/errors.ts';
import type { WindowKind } from './node-windows.ts';
import {
  countDecisions,
  createFrameReader,
  readDecision,
  type WindowQuestion,
  writeQuestions,
} from './window-frames.ts';
import type { Windows } from './windows.ts';

export interface ParentWindowsOptions {
  clock: Clock;
  /** How far the machine's steady clock is ahead of this process's clock. */
  machineAheadMs: number;
  /** How long a question may wait. */
  withinMs?: number;
}

interface Waiting {
  question: WindowQuestion;
  askedAtMs: number;
  /** Gets undefined when the parent did not answer in time. Called once. */
  answer: ((decision: LimitDecision | undefined) => void) | undefined;
}

/** Covers the error of two clock readings, so that a request which was already on its way gets no penalty. */
const clockErrorMs = 0.005;
/** More questions than this wait only if the parent has stopped answering. */
const mostWaiting = 100_000;
/** Maximum number of unanswered frames: a busy parent gets fewer and larger ones. */
const mostFrames = 2;
/** Keep this many answered questions before cutting the list. */
const forgetAfter = 10_000;

/**
 * A web process's side of the node's windows: asks the parent, with one write for all questions of an event-loop turn. The
 * parent decides, so the limits are exact however many processes there are. Without its answer a request gets a 503.
 */
export function createParentWindows(channel: Duplex, options: ParentWindowsOptions) {
  const { clock, machineAheadMs, withinMs = 2000 } = options;
  let asked: Waiting[] = [];
  /** In the order of their questions; `first` is the index of the oldest unanswered one. */
  let waiting: Waiting[] = [];
  let first = 0;
  let frames = 0;
  let isSending = false;
  let late: NodeJS.Timeout | undefined;
  let answering = true;

  /** Sends at the end of this turn. At the maximum of unanswered frames, questions wait for an answer. */
  function sendSoon(): void {
    if (isSending || frames >= mostFrames) return;
    isSending = true;
    setImmediate(sendAll);
  }

  function sendAll(): void {
    isSending = false;
    if (asked.length === 0) return;
    const sending = asked;
    asked = [];
    for (const one of sending) waiting.push(one);
    frames++;
    channel.write(writeQuestions(sending.map(({ question }) => question)));
  }

  /** Checks after the channel was read again: a pause of this process must not count as the parent's delay. */
  function checkIn(ms: number): void {
    late = setTimeout(() => setImmediate(giveUpLate), ms).unref();
  }

  /** One timer for all questions: it checks the oldest, and fires again when that one could be late. */
  function giveUpLate(): void {
    late = undefined;
    const oldest = waiting[first] ?? asked[0];
    if (oldest === undefined) return;
    const leftMs = oldest.askedAtMs + withinMs - clock.steadyMs();
    if (leftMs > 0) {
      checkIn(leftMs);
      return;
    }
    answering = false;
    // Keep sent questions in the list: the parent may still answer them, in this order.
    const unsent = asked;
    asked = [];
    for (const one of [...waiting.slice(first), ...unsent]) settle(one, undefined);
  }

  function settle(one: Waiting, decision: LimitDecision | undefined): void {
    const { answer, question } = one;
    one.answer = undefined;
    if (answer !== undefined) answer(decision);
    // The request was answered by a 503 meanwhile: give back what the late decision charged.
    else if (decision?.chargedAtMs !== undefined) giveBack(question, decision.chargedAtMs, () => {});
  }

  const read = createFrameReader((payload) => {
    frames--;
    answering = true;
    const count = countDecisions(payload);
    for (let place = 0; place < count; place++) {
      const one = waiting[first + place];
      if (one === undefined) throw new Error('the parent answered a question that was not asked');
      settle(one, readDecision(payload, place, one.question.limits));
    }
    first += count;
    if (first === waiting.length || first >= forgetAfter) {
      waiting = waiting.slice(first);
      first = 0;
    }
    if (asked.length > 0) sendSoon();
  });
  channel.on('data', read);

  function ask(question: WindowQuestion, answer: NonNullable<Waiting['answer']>): void {
    if (!answering || waiting.length - first + asked.length >= mostWaiting) {
      answer(undefined);
      return;
    }
    asked.push({ question, askedAtMs: clock.steadyMs(), answer });
    sendSoon();
    if (late === undefined) checkIn(withinMs);
  }

  function decide(kind: WindowKind, key: string, limits: Limits, informedAtMs: number): Promise<LimitDecision> {
    const question = { kind, key, limits, informedAtMs: informedAtMs + machineAheadMs - clockErrorMs };
    return new Promise((resolve, reject) => {
      ask(question, (decision) => (decision === undefined ? reject(undecided()) : resolve(decision)));
    });
  }

  function peek(kind: WindowKind, key: string, limits: Limits): Promise<LimitDecision> {
    return new Promise((resolve) => {
      ask({ kind, key, limits, informedAtMs: undefined }, (decision) => resolve(decision ?? unknownStanding(limits)));
    });
  }

  function giveBack(
    { kind, key, limits }: Pick<WindowQuestion, 'kind' | 'key' | 'limits'>,
    givesBackMs: number,
    then: (standing: LimitDecision) => void,
  ): void {
    ask({ kind, key, limits, informedAtMs: undefined, givesBackMs }, (standing) =>
      then(standing ?? unknownStanding(limits)),
    );
  }

  const windowsOf = (kind: WindowKind): Windows => ({
    decide: (key, limits, informedAtMs) => decide(kind, key, limits, informedAtMs),
    peek: (key, limits) => peek(kind, key, limits),
    giveBack: (key, { limits, chargedAtMs }) =>
      chargedAtMs === undefined
        ? peek(kind, key, limits)
        : new Promise((resolve) => giveBack({ kind, key, limits }, chargedAtMs, resolve)),
  });
  return {
    windows: {
      registrations: windowsOf('registrations'),
      visitors: windowsOf('visitors'),
      clients: windowsOf('clients'),
      passwords: windowsOf('passwords'),
    },
    /** False while the parent owes an answer for too long: then no request is decided. */
    isAnswering: (): boolean => answering,
  };
}

function undecided(): Error {
  return unavailable('The limits of this request cannot be decided at the moment.');
}

/** The state for limit headers while the parent is silent: it promises no requests. */
function unknownStanding(limits: Limits): LimitDecision {
  return {
    admitted: false,
    limits,
    remaining: 0,
    resetMs: minuteMs,
    nextFreeMs: 1000,
    retryAfterMs: 0,
    refusedBy: undefined,
    chargedAtMs: undefined,
  };
}
