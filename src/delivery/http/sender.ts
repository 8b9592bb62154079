import type { Lane } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Answer, Capacity, OutgoingText, Progress, SubmitResult } from '../carrier/carrier.ts';
import { createLaneQueue, keptForFirst, type LaneItem } from '../carrier/lane-queue.ts';
import { createSubmitRate } from '../carrier/rate.ts';
import { createNextLook, createRoomWatch } from '../carrier/sender-polls.ts';
import type { Verdict } from './answer.ts';
import type { CarrierCondition } from './condition.ts';

/** Sends texts one by one: in lanes, within the rate, so many at once. */
export interface HttpSender {
  capacity(): Capacity;
  /** How long a text has to wait because the provider wants fewer of them; 0 if it does not have to. */
  throttledMs(): number;
  submit(texts: OutgoingText[], answer: Answer, progress?: Progress): Promise<void>;
  setPaused(paused: boolean): void;
  /** The share of the account's rate that this node has now; 0 until it is known. */
  setShare(share: number): void;
  /** Looks at what has waited for too long, and sends what may go. */
  tick(): void;
  /** Gives back what has not left, and waits for the rest. */
  stop(withinMs: number): Promise<void>;
}

/** What became of a request. `overdue`: `leave` said no, and no byte of it was written. */
export type Sent =
  | { kind: 'verdict'; verdict: Verdict; status: number }
  | { kind: 'overdue' }
  | { kind: 'not_sent'; reason: string }
  | { kind: 'in_doubt'; reason: string };

export interface HttpSenderOptions {
  perSecond: number | null;
  concurrency: number;
  clock: Clock;
  condition: CarrierCondition;
  /** Calls `leave` right before it writes the request. False: it has waited for too long, and must not be written. */
  send: (text: OutgoingText, leave: () => boolean) => Promise<Sent>;
  /** Called when there is room again after there was none. */
  onCapacity: () => void;
}

/** A text that waits for its request. */
interface WaitingText extends LaneItem {
  text: OutgoingText;
  place: number;
  answer: Answer;
  progress: Progress;
  /** Called once, with the first answer. */
  onAnswered: () => void;
  /** After this time (steady) it goes back to the queue in the database. */
  untilMs: number;
}

/** Without an answer for this long, a code goes on: a person waits for it. */
const codeAnswerMs = 5000;
/** A code that would wait for longer goes to another carrier instead. */
const codeWaitMs = 3000;
/** Maximum wait of a text here: after it the text goes back to the queue in the database. */
export const waitMs = 10_000;
/** Texts for this time are taken ahead, so that no connection waits for the next claim. */
const aheadMs = 250;
const ahead = { least: 10, most: 500 };

const unreachable: SubmitResult = { outcome: 'retry', error: 'carrier_unavailable', elsewhere: true };

export function createHttpSender(options: HttpSenderOptions): HttpSender {
  const { perSecond, concurrency, clock, condition, send, onCapacity } = options;
  const rate = createSubmitRate(clock, perSecond);
  const queue = createLaneQueue<WaitingText>();
  /** The requests under way, by lane. */
  const held = { first: 0, bulk: 0 };
  let paused = false;
  let stopped = false;
  let hasShare = false;
  const tellCapacity = createRoomWatch(capacity, onCapacity);
  const nextLook = createNextLook({
    clock,
    isWanted: () => queue.size > 0 && !stopped,
    nextMs: () => rate.nextMs,
    look() {
      giveBack(isOverdue);
      pump();
    },
  });
  let onIdle = () => {};

  const underWay = () => held.first + held.bulk;

  function isOverdue({ untilMs, text }: WaitingText): boolean {
    return untilMs <= clock.steadyMs() || text.expiresAtMs <= clock.nowMs();
  }

  /** How many requests may be under way now. */
  function most(): number {
    if (condition.state === 'down') return 0;
    return condition.state === 'probing' ? 1 : concurrency;
  }

  function capacity(): Capacity {
    if (paused || stopped || !hasShare || rate.isPaused || most() === 0) return { first: 0, bulk: 0 };
    const soon = Math.ceil((rate.perSecond * aheadMs) / 1000);
    const free = Math.max(0, most() - underWay());
    const isProbing = condition.state === 'probing';
    const more = isProbing ? 0 : Math.min(ahead.most, Math.max(Math.min(ahead.least, concurrency), soon));
    const wanted = rate.isLimited ? Math.max(1, Math.min(soon, free + more)) : free + more;
    const room = (lane: Lane) => Math.max(0, wanted - (isProbing ? queue.size : queue.waiting(lane)));
    return { first: room('first'), bulk: room('bulk') };
  }

  function pump(): void {
    if (most() === 0) giveBack(() => true);
    while (sendNext());
    nextLook.plan();
    tellCapacity();
  }

  function sendNext(): boolean {
    if (queue.size === 0 || underWay() >= most()) return false;
    const next = queue.next(held.bulk < most() - keptForFirst(most()));
    if (next === undefined) return false;
    // Asked at each send: after a stall answers make room before any timer finds what has waited for too long.
    if (isOverdue(next)) {
      queue.drop(next);
      tellUnsent(next);
      return true;
    }
    if (!rate.take()) return false;
    queue.take(next);
    void run(next);
    return true;
  }

  async function run(waiting: WaitingText): Promise<void> {
    const { text, place, progress, lane } = waiting;
    let isAnswered = false;
    let isWritten = false;
    let patience: NodeJS.Timeout | undefined;
    const settle = (result: SubmitResult) => {
      waiting.answer(place, result);
      if (!isAnswered) waiting.onAnswered();
      isAnswered = true;
    };
    // A code that could not even be written goes elsewhere, and is not written any more.
    const hurry = () => {
      clearTimeout(patience);
      const giveUp = () => settle(isWritten ? { outcome: 'in_doubt', silent: true } : unreachable);
      if (text.isCode) patience = setTimeout(giveUp, codeAnswerMs);
    };
    const leave = () => {
      if (isAnswered || isOverdue(waiting)) return false;
      isWritten = true;
      rate.noteWritten();
      progress(place, 'written');
      hurry();
      return true;
    };
    held[lane]++;
    hurry();
    const sent = await send(text, leave).catch((): Sent => ({ kind: 'in_doubt', reason: 'The request failed.' }));
    clearTimeout(patience);
    held[lane]--;
    if (!isWritten) rate.noteUnsent();
    note(sent);
    const result = resultOf(sent);
    if (result.outcome === 'throttled') rate.noteThrottled(result.afterMs);
    // A late answer only tells: its text may be in the queue in the database by now, and only a claim submits.
    if (result.outcome === 'throttled' && !isAnswered && !stopped && mayWait(waiting)) {
      progress(place, 'waits');
      queue.putBack(waiting);
    } else settle(result.outcome === 'throttled' ? { ...result, afterMs: throttledMs() } : result);
    pump();
    if (underWay() === 0) onIdle();
  }

  /** A throttled text is the first to go after the pause, unless that is too late for it. */
  function mayWait({ text, untilMs }: WaitingText): boolean {
    return rate.nextMs < (text.isCode ? Math.min(untilMs, clock.steadyMs() + codeWaitMs) : untilMs);
  }

  function throttledMs(): number {
    return rate.isPaused ? rate.nextMs - clock.steadyMs() : 0;
  }

  function note(sent: Sent): void {
    if (sent.kind === 'overdue') return;
    if (sent.kind === 'not_sent') condition.noteUnreachable(sent.reason);
    else if (sent.kind === 'in_doubt') condition.noteDoubt(sent.reason);
    else if (sent.verdict.isAccount) condition.noteAccount(`The provider refuses the account (HTTP ${sent.status}).`);
    else if (sent.verdict.result.outcome === 'in_doubt')
      condition.noteDoubt(`The provider answered HTTP ${sent.status}, and nothing that can be used.`);
    else condition.noteAnswer();
    if (sent.kind === 'verdict' && sent.verdict.result.outcome === 'accepted') rate.noteAccepted();
  }

  function giveBack(fits: (waiting: WaitingText) => boolean): void {
    if (queue.size > 0) queue.takeAll(fits).forEach(tellUnsent);
  }

  function tellUnsent({ answer, place, onAnswered }: WaitingText): void {
    answer(place, { outcome: 'not_sent' });
    onAnswered();
  }

  return {
    capacity,
    throttledMs,
    submit: (texts, answer, progress = () => {}) =>
      new Promise((resolve) => {
        let open = texts.length;
        const untilMs = clock.steadyMs() + waitMs;
        const onAnswered = () => {
          if (--open === 0) resolve();
        };
        for (const [place, text] of texts.entries())
          queue.add({ lane: text.lane, text, place, answer, progress, onAnswered, untilMs });
        pump();
      }),
    setPaused(value) {
      paused = value;
      tellCapacity();
    },
    setShare(share) {
      hasShare = share > 0;
      rate.setLimit(perSecond === null ? null : perSecond * share);
      tellCapacity();
    },
    tick: pump,
    async stop(withinMs) {
      stopped = true;
      nextLook.cancel();
      giveBack(() => true);
      if (underWay() === 0) return;
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, withinMs);
        onIdle = () => {
          clearTimeout(late);
          resolve();
        };
      });
    },
  };
}

function resultOf(sent: Sent): SubmitResult {
  if (sent.kind === 'verdict') return sent.verdict.result;
  if (sent.kind === 'overdue') return { outcome: 'not_sent' };
  return sent.kind === 'not_sent' ? unreachable : { outcome: 'in_doubt' };
}
