import type { Lane } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SubmitFields } from '../../smpp/pdu.ts';
import { readSubmitErrors, refusalOf, statusWords } from '../../smpp/submit-errors.ts';
import type { SubmitAnswer, SubmitRequest } from '../../smpp/submit-window.ts';
import type { Answer, Capacity, OutgoingText, Progress } from '../carrier/carrier.ts';
import { createLaneQueue, keptForFirst, type LaneItem } from '../carrier/lane-queue.ts';
import { createSubmitRate } from '../carrier/rate.ts';
import { receiptKeyOf } from '../carrier/receipt-keys.ts';
import { createNextLook, createRoomWatch } from '../carrier/sender-polls.ts';
import type { SmppSettings } from './settings.ts';
import { receiptsAwaited, toSubmits } from './submit-parts.ts';
import { createSubmittedText, type SubmittedText, type SubmittedTextOptions } from './submitted-text.ts';

/** A connection that takes submits. */
export interface SubmitBind {
  /** How many more submits it takes now; 0 unless bound. */
  readonly free: number;
  /** Its session has ended in order, and the next one is being made. */
  readonly isReturning: boolean;
  submit(request: SubmitRequest): boolean;
}

/** Sends texts over the binds of one carrier: in lanes, within the rate and the windows, part by part. */
export interface SmppSender {
  capacity(): Capacity;
  /** How long it sends nothing because the carrier wants fewer texts. */
  throttledMs(): number;
  submit(texts: OutgoingText[], answer: Answer, progress?: Progress): Promise<void>;
  /** The windows have room, or a bind has come or gone. */
  pump(): void;
  setPaused(paused: boolean): void;
  /** The share of the account's rate that this node has now. To be told again when the rate has changed. */
  setShare(share: number): void;
  /** Gives back what has not left. */
  stop(): void;
}

export interface SmppSenderOptions {
  /** As they are now: an operator may change them while it sends. */
  settings: () => SmppSettings;
  clock: Clock;
  binds: () => readonly SubmitBind[];
  /** Called when there is room again after there was none. */
  onCapacity: () => void;
  /** Gets every id that the carrier gives a text. */
  onAccepted: (carrierMessageId: string) => void;
}

/** A part that waits for a free place in a window. */
interface WaitingPart extends LaneItem {
  submitted: SubmittedText;
  part: number;
  fields: SubmitFields;
  /** After this time (steady) it goes back to the queue in the database: its claim may be another worker's soon. */
  untilMs: number;
}

/** Without an answer for this long, a code goes on: a person waits for it. */
const codeAnswerMs = 5000;
/** No code waits longer than this here for a carrier that wants fewer texts: another carrier may take it. */
const codeWaitsMs = 3000;
/** Maximum wait of a part here: after it the text goes back to the queue in the database. */
const waitMs = 10_000;
/** Maximum wait for the next bind after one that ended in order. */
const returnMs = 3000;
/** Texts for this time are taken ahead of the window, so that the window never runs dry between two claims. */
const aheadMs = 250;
const ahead = { least: 50, most: 1000 };
/** No more than leave within this time by the answers so far: what waits for too long goes back, and the window runs dry. */
const aheadWithinMs = 5000;
/** So much of the mean time to an answer is the newest one's. */
const newestShare = 1 / 8;
/** A carrier that has answered nothing for this long is not given more than its window holds. */
const movingMs = 1000;

export function createSmppSender(options: SmppSenderOptions): SmppSender {
  const { settings, clock, binds, onCapacity, onAccepted } = options;
  const rate = createSubmitRate(clock, settings().per_second);
  const queue = createLaneQueue<WaitingPart>();
  /** The slots that each lane holds. */
  const held = { first: 0, bulk: 0 };
  let paused = false;
  let isPumping = false;
  let answeredMs = 0;
  /** How long an answer takes, in the mean. */
  let answerMs = 0;
  /** Since when no bind is up, and nothing under way. */
  let offSinceMs: number | undefined;
  const tellCapacity = createRoomWatch(capacity, onCapacity);
  const nextLook = createNextLook({
    clock,
    isWanted: () => queue.size > 0,
    nextMs: () => rate.nextMs,
    look() {
      giveBack(isOverdue);
      pump();
    },
  });

  const freeOf = () => binds().reduce((sum, bind) => sum + bind.free, 0);
  const underWay = () => held.first + held.bulk;

  /** The slots of the binds that are up. */
  const slots = () => Math.min(freeOf() + underWay(), settings().window * binds().length);

  /** Whether one more slot may be bulk's. */
  function mayBeBulk(): boolean {
    const all = slots();
    return held.bulk < all - keptForFirst(all);
  }

  function isOverdue({ untilMs, submitted }: WaitingPart): boolean {
    return untilMs <= clock.steadyMs() || submitted.text.expiresAtMs <= clock.nowMs();
  }

  function capacity(): Capacity {
    const free = freeOf();
    // A full window is no reason to wait while answers come: it is free again before the next claim.
    const isMoving = underWay() > 0 && clock.steadyMs() - answeredMs < movingMs;
    if (paused || rate.isPaused || (free === 0 && !isMoving)) return { first: 0, bulk: 0 };
    const soon = Math.ceil((rate.perSecond * aheadMs) / 1000);
    const leaving = answerMs === 0 ? ahead.least : Math.ceil((slots() * aheadWithinMs) / answerMs);
    const least = Math.min(ahead.least, Math.max(1, leaving));
    const most = rate.isLimited ? soon : free + Math.min(ahead.most, Math.max(least, soon));
    const room = (lane: Lane) => Math.max(0, Math.max(1, most) - queue.waiting(lane));
    return { first: room('first'), bulk: room('bulk') };
  }

  function add(text: OutgoingText, tell: Pick<SubmittedTextOptions, 'place' | 'answer' | 'progress' | 'onAnswered'>) {
    const { form, submits } = toSubmits(text, settings(), clock.nowMs());
    const total = submits.length;
    if (total === 0) {
      tell.answer(tell.place, { outcome: 'never', error: 'content_rejected' });
      tell.onAnswered();
      return;
    }
    const needed = receiptsAwaited(settings().receipts, total);
    const submitted = createSubmittedText({ text, total, form, needed, ...tell });
    const untilMs = clock.steadyMs() + waitMs;
    for (const part of submitted.partsToSend) {
      const fields = submits[part - 1];
      if (fields !== undefined) queue.add({ lane: text.lane, submitted, part, fields, untilMs });
    }
  }

  function pump(): void {
    // A settled submit calls this again.
    if (isPumping) return;
    isPumping = true;
    try {
      if (isOff()) giveBack(() => true);
      while (sendNext());
    } finally {
      isPumping = false;
    }
    nextLook.plan();
    tellCapacity();
  }

  /** No bind is up: there is no room although nothing is under way. One that comes back at once is waited for. */
  function isOff(): boolean {
    if (underWay() > 0 || freeOf() > 0) {
      offSinceMs = undefined;
      return false;
    }
    offSinceMs ??= clock.steadyMs();
    return clock.steadyMs() - offSinceMs >= returnMs || !binds().some(({ isReturning }) => isReturning);
  }

  function giveBack(fits: (part: WaitingPart) => boolean): void {
    if (queue.size === 0) return;
    for (const { submitted, part } of queue.takeAll(fits)) submitted.noteUnsent(part);
  }

  function sendNext(): boolean {
    if (queue.size === 0 || freeOf() === 0) return false;
    const next = queue.next(mayBeBulk());
    if (next === undefined) return false;
    // Asked at each send: after a stall answers make room before any timer finds what has waited for too long.
    if (next.submitted.isRefused() || isOverdue(next)) {
      queue.drop(next);
      next.submitted.noteUnsent(next.part);
      return true;
    }
    if (!rate.take()) return false;
    queue.take(next);
    send(next);
    return true;
  }

  function send(waiting: WaitingPart): void {
    const { submitted, part, fields, lane, untilMs } = waiting;
    const { isCode, messageId } = submitted.text;
    let writtenMs: number | undefined;
    let isSettled = false;
    const bind = binds().reduce((most, each) => (each.free > most.free ? each : most));
    const leave = () => {
      held[lane]--;
      if (writtenMs === undefined) rate.noteUnsent();
      else answerMs += (clock.steadyMs() - writtenMs - answerMs) * (answerMs === 0 ? 1 : newestShare);
    };
    held[lane]++;
    const taken = bind.submit({
      fields,
      messageId,
      deadlineMs: isCode ? codeAnswerMs : undefined,
      writeBeforeMs: isCode ? Math.min(untilMs, clock.steadyMs() + codeAnswerMs) : untilMs,
      onWritten() {
        writtenMs = clock.steadyMs();
        rate.noteWritten();
        submitted.noteWritten(part);
      },
      settle(answer) {
        const isLate = isSettled;
        isSettled = true;
        if (!isLate) leave();
        settle(waiting, answer, isLate);
      },
    });
    if (taken) return;
    leave();
    submitted.noteUnsent(part);
  }

  /** A late answer only tells: its text may be in the queue in the database by now, and only a claim submits. */
  function settle(waiting: WaitingPart, answer: SubmitAnswer, isLate: boolean): void {
    const { submitted, part } = waiting;
    if (answer.kind === 'in_doubt') submitted.noteInDoubt(part, answer.silent);
    else if (answer.kind === 'not_sent') {
      if (isLate) submitted.noteUnsent(part);
      else queue.putBack(waiting);
    } else if (answer.status === 0) accept(submitted, part, answer.messageId);
    else refuse(waiting, answer.status, isLate);
    pump();
  }

  function accept(submitted: SubmittedText, part: number, id: string): void {
    rate.noteAccepted();
    answeredMs = clock.steadyMs();
    onAccepted(id);
    submitted.noteAccepted(part, id, receiptKeyOf(id, settings().message_id));
  }

  function refuse(waiting: WaitingPart, status: number, isLate: boolean): void {
    const { submitted, part, untilMs } = waiting;
    const refusal = { ...refusalOf(status, readSubmitErrors(settings().submit_errors)), reported: statusWords(status) };
    if (refusal.outcome !== 'throttled') {
      submitted.noteRefused(part, refusal);
      return;
    }
    rate.noteThrottled();
    const isLong = isLongFor(waiting);
    // A throttled part is the first to be sent after the pause, unless that is too late.
    if (rate.nextMs < untilMs && !isLong && !isLate) {
      submitted.noteWaits(part);
      queue.putBack(waiting);
    } else submitted.noteRefused(part, { ...refusal, afterMs: throttledMs() });
    if (isLong) giveBack(isLongFor);
  }

  function throttledMs(): number {
    return rate.isPaused ? rate.nextMs - clock.steadyMs() : 0;
  }

  /** The pause is longer than a code waits. */
  function isLongFor({ submitted }: WaitingPart): boolean {
    return submitted.text.isCode && throttledMs() > codeWaitsMs;
  }

  return {
    capacity,
    throttledMs,
    submit: (texts, answer, progress = () => {}) =>
      new Promise((resolve) => {
        let open = texts.length;
        const onAnswered = () => {
          if (--open === 0) resolve();
        };
        for (const [place, text] of texts.entries()) add(text, { place, answer, progress, onAnswered });
        pump();
      }),
    pump,
    setPaused(value) {
      paused = value;
      tellCapacity();
    },
    setShare(share) {
      const { per_second: perSecond } = settings();
      rate.setLimit(perSecond === null ? null : perSecond * share);
    },
    stop() {
      paused = true;
      nextLook.cancel();
      giveBack(() => true);
    },
  };
}
