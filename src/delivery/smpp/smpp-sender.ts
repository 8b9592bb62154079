import type { Lane } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Answer, Capacity, OutgoingText } from '../carrier.ts';
import { createNextLook, createRoomWatch } from '../sender-looks.ts';
import { receiptKeyOf } from './carrier-ids.ts';
import { createPartQueue, type WaitingPart } from './part-queue.ts';
import type { SmppSettings } from './smpp-settings.ts';
import { readSubmitErrors, refusalOf } from './submit-errors.ts';
import { receiptsAwaited, toSubmits } from './submit-parts.ts';
import { createSubmitRate } from './submit-rate.ts';
import type { SubmitAnswer, SubmitRequest } from './submit-window.ts';
import { createSubmittedText, type SubmittedText } from './submitted-text.ts';

/** A connection that takes submits. */
export interface SubmitBind {
  /** How many more submits it takes now; 0 unless bound. */
  readonly free: number;
  submit(request: SubmitRequest): boolean;
}

/** Sends texts over the binds of one carrier: in lanes, within the rate and the windows, part by part. */
export interface SmppSender {
  capacity(): Capacity;
  /** How long it sends nothing because the carrier wants fewer texts. */
  throttledMs(): number;
  submit(texts: OutgoingText[], answer: Answer): Promise<void>;
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

/** Without an answer for this long, a code goes on: a person waits for it. */
const codeAnswerMs = 5000;
/** No code waits longer than this here for a carrier that wants fewer texts: another carrier may take it. */
const codeWaitsMs = 3000;
/** So long a part waits here: after that its text goes back to the queue in the database. */
const waitMs = 10_000;
/** Texts for this time are taken ahead of the window, so that the window never runs dry between two claims. */
const aheadMs = 250;
const ahead = { least: 50, most: 1000 };
/** A carrier that has answered nothing for this long is not given more than its window holds. */
const movingMs = 1000;

export function createSmppSender(options: SmppSenderOptions): SmppSender {
  const { settings, clock, binds, onCapacity, onAccepted } = options;
  const rate = createSubmitRate(clock, settings().per_second);
  const queue = createPartQueue();
  let paused = false;
  let isPumping = false;
  let underWay = 0;
  let answeredMs = 0;
  const tellCapacity = createRoomWatch(capacity, onCapacity);
  const nextLook = createNextLook({
    clock,
    isWanted: () => queue.size > 0,
    nextMs: () => rate.nextMs,
    look() {
      giveBack(({ untilMs }) => untilMs <= clock.steadyMs());
      pump();
    },
  });

  const freeOf = () => binds().reduce((sum, bind) => sum + bind.free, 0);
  /** Places in the windows that bulk texts never take, unless the windows are tiny. */
  const keptForFirst = () => Math.min(2, Math.floor((settings().window * settings().binds) / 2));

  function capacity(): Capacity {
    const free = freeOf();
    // A full window is no reason to wait while answers come: it is free again before the next claim.
    const isMoving = underWay > 0 && clock.steadyMs() - answeredMs < movingMs;
    if (paused || rate.isPaused || (free === 0 && !isMoving)) return { first: 0, bulk: 0 };
    const soon = Math.ceil((rate.perSecond * aheadMs) / 1000);
    const most = rate.isLimited ? soon : free + Math.min(ahead.most, Math.max(ahead.least, soon));
    const room = (lane: Lane) => Math.max(0, Math.max(1, most) - queue.waiting(lane));
    return { first: room('first'), bulk: room('bulk') };
  }

  function add(text: OutgoingText, place: number, answer: Answer, onAnswered: () => void): void {
    const { form, submits } = toSubmits(text, settings(), clock.nowMs());
    const total = submits.length;
    if (total === 0) {
      answer(place, { outcome: 'never', error: 'content_rejected' });
      onAnswered();
      return;
    }
    const needed = receiptsAwaited(settings().receipts, total);
    const submitted = createSubmittedText({ text, place, total, form, needed, answer, onAnswered });
    const untilMs = clock.steadyMs() + waitMs;
    for (const part of submitted.partsToSend) {
      const fields = submits[part - 1];
      if (fields !== undefined) queue.add({ submitted, part, fields, untilMs });
    }
  }

  function pump(): void {
    // A settled submit calls this again.
    if (isPumping) return;
    isPumping = true;
    try {
      // No bind is up: there is no room although nothing is under way.
      if (underWay === 0 && freeOf() === 0) giveBack(() => true);
      while (sendNext());
    } finally {
      isPumping = false;
    }
    nextLook.plan();
    tellCapacity();
  }

  function giveBack(fits: (part: WaitingPart) => boolean): void {
    if (queue.size === 0) return;
    for (const { submitted, part } of queue.takeAll(fits)) submitted.noteUnsent(part);
  }

  function sendNext(): boolean {
    if (queue.size === 0) return false;
    const free = freeOf();
    if (free === 0) return false;
    const bulk = free > keptForFirst();
    if (queue.waiting('first') === 0 && !bulk) return false;
    if (!rate.take()) return false;
    const next = queue.take({ first: true, bulk });
    if (next === undefined) return false;
    if (next.submitted.isRefused()) next.submitted.noteUnsent(next.part);
    else send(next);
    return true;
  }

  function send(waiting: WaitingPart): void {
    const { submitted, part, fields } = waiting;
    const { isCode, messageId } = submitted.text;
    let isSettled = false;
    const bind = binds().reduce((most, each) => (each.free > most.free ? each : most));
    const taken = bind.submit({
      fields,
      messageId,
      deadlineMs: isCode ? codeAnswerMs : undefined,
      settle(answer) {
        if (!isSettled) underWay--;
        isSettled = true;
        settle(waiting, answer);
      },
    });
    if (taken) underWay++;
    else submitted.noteUnsent(part);
  }

  function settle(waiting: WaitingPart, answer: SubmitAnswer): void {
    const { submitted, part } = waiting;
    if (answer.kind === 'not_sent') queue.putBack(waiting);
    else if (answer.kind === 'in_doubt') submitted.noteInDoubt(part, answer.silent);
    else if (answer.status === 0) accept(submitted, part, answer.messageId);
    else refuse(waiting, answer.status);
    pump();
  }

  function accept(submitted: SubmittedText, part: number, id: string): void {
    rate.noteAccepted();
    answeredMs = clock.steadyMs();
    onAccepted(id);
    submitted.noteAccepted(part, id, receiptKeyOf(id, settings().message_id));
  }

  function refuse(waiting: WaitingPart, status: number): void {
    const { submitted, part, untilMs } = waiting;
    const refusal = refusalOf(status, readSubmitErrors(settings().submit_errors));
    if (refusal.outcome !== 'throttled') {
      submitted.noteRefused(part, refusal);
      return;
    }
    rate.noteThrottled();
    const isLate = isLongFor(waiting);
    // A throttled part is the first to be sent after the pause, unless that is too late.
    if (rate.nextMs < untilMs && !isLate) queue.putBack(waiting);
    else submitted.noteRefused(part, { outcome: 'throttled', afterMs: throttledMs() });
    if (isLate) giveBack(isLongFor);
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
    submit: (texts, answer) =>
      new Promise((resolve) => {
        let open = texts.length;
        for (const [place, text] of texts.entries()) {
          add(text, place, answer, () => {
            if (--open === 0) resolve();
          });
        }
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
