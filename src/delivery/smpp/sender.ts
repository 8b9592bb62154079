import type { Clock } from '../../platform/clock.ts';
import type { SubmitFields } from '../../smpp/pdu.ts';
import { readSubmitErrors, refusalOf, statusWords } from '../../smpp/submit-errors.ts';
import type { SubmitAnswer, SubmitRequest } from '../../smpp/submit-window.ts';
import type { Capacity } from '../carrier/carrier.ts';
import { codeAnswerMs } from '../carrier/code-patience.ts';
import { createPacedSender, type GivenText, type PacedSender, type WaitingItem } from '../carrier/paced-sender.ts';
import { receiptKeyOf } from '../carrier/receipt-keys.ts';
import type { SmppSettings } from './settings.ts';
import { receiptsAwaited, toSubmits } from './submit-parts.ts';
import { createSubmittedText, type SubmittedText } from './submitted-text.ts';

/** A connection that takes submits. */
export interface SubmitBind {
  /** How many more submits it takes now; 0 unless bound. */
  readonly free: number;
  /** Its session has ended in order, and the next one is being made. */
  readonly isReturning: boolean;
  submit(request: SubmitRequest): boolean;
}

/** Sends texts over the binds of one carrier, part by part. Call `pump` when windows have room, or a bind comes or goes. */
export type SmppSender = Pick<
  PacedSender<WaitingPart>,
  'capacity' | 'throttledMs' | 'submit' | 'pump' | 'setPaused' | 'setShare' | 'stop'
>;

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

/** A part that waits for room in a window. */
interface WaitingPart extends WaitingItem {
  submitted: SubmittedText;
  part: number;
  fields: SubmitFields;
}

/** Maximum wait for the next bind after one that ended in order. */
const returnMs = 3000;
/** Parts that may wait ahead of the window, so that it never runs dry between two claims. */
const ahead = { least: 50, most: 1000 };
/** At most as many parts wait as leave within this time, by the answers so far: overdue parts would go back. */
const aheadWithinMs = 5000;
/** The weight of the newest answer in the mean time to an answer. */
const newestShare = 1 / 8;
/** A carrier that has answered nothing for this long gets no more than its window holds. */
const movingMs = 1000;

export function createSmppSender(options: SmppSenderOptions): SmppSender {
  const { settings, clock, binds, onCapacity, onAccepted } = options;
  let answeredMs = 0;
  /** The mean time to an answer. */
  let answerMs = 0;
  /** Since when no bind is up and no submit is open. */
  let offSinceMs: number | undefined;
  const paced = createPacedSender<WaitingPart>({
    clock,
    perSecond: () => settings().per_second,
    slots,
    free,
    isOff,
    takes,
    toItems,
    send,
    returnUnsent: ({ submitted, part }) => submitted.noteUnsent(part),
    isRefused: ({ submitted }) => submitted.isRefused(),
    onCapacity,
  });
  const { rate } = paced;

  function free(): number {
    return binds().reduce((sum, bind) => sum + bind.free, 0);
  }

  /** The slots of the binds that are up. */
  function slots(): number {
    return Math.min(free() + paced.underWay, settings().window * binds().length);
  }

  function takes(soon: number): Capacity {
    const freeNow = free();
    // A full window is no reason to wait while answers come: it is free again before the next claim.
    const isMoving = paced.underWay > 0 && clock.steadyMs() - answeredMs < movingMs;
    if (freeNow === 0 && !isMoving) return { first: 0, bulk: 0 };
    const leaving = answerMs === 0 ? ahead.least : Math.ceil((slots() * aheadWithinMs) / answerMs);
    const least = Math.min(ahead.least, Math.max(1, leaving));
    return paced.roomFor(Math.max(1, rate.isLimited ? soon : freeNow + Math.min(ahead.most, Math.max(least, soon))));
  }

  /** Runs for every text: spreads and `flatMap` made each text in a request of a hundred cost 20 % more. */
  function toItems({ text, index, answer, progress, onAnswered, untilMs }: GivenText): WaitingPart[] {
    const { form, submits } = toSubmits(text, settings(), clock.nowMs());
    const total = submits.length;
    const items: WaitingPart[] = [];
    if (total === 0) {
      answer(index, { outcome: 'never', error: 'content_rejected' });
      onAnswered();
      return items;
    }
    const needed = receiptsAwaited(settings().receipts, total);
    const submitted = createSubmittedText({ text, index, total, form, needed, answer, progress, onAnswered });
    for (const part of submitted.partsToSend) {
      const fields = submits[part - 1];
      if (fields !== undefined) items.push({ lane: text.lane, text, submitted, part, fields, untilMs });
    }
    return items;
  }

  /**
   * Whether no bind is up: no slot is free, and none is in use. After an orderly end it first waits a while for the next
   * bind.
   */
  function isOff(): boolean {
    if (paced.underWay > 0 || free() > 0) {
      offSinceMs = undefined;
      return false;
    }
    offSinceMs ??= clock.steadyMs();
    return clock.steadyMs() - offSinceMs >= returnMs || !binds().some(({ isReturning }) => isReturning);
  }

  function send(waiting: WaitingPart): void {
    const { submitted, part, fields, untilMs } = waiting;
    const { isCode, messageId } = waiting.text;
    let writtenMs: number | undefined;
    let isSettled = false;
    const bind = binds().reduce((most, each) => (each.free > most.free ? each : most));
    const leave = () => {
      paced.release(waiting, writtenMs !== undefined);
      if (writtenMs !== undefined)
        answerMs += (clock.steadyMs() - writtenMs - answerMs) * (answerMs === 0 ? 1 : newestShare);
    };
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

  /** A late answer never resends: the text may be in the queue of the database again, and only a claim may submit it. */
  function settle(waiting: WaitingPart, answer: SubmitAnswer, isLate: boolean): void {
    const { submitted, part } = waiting;
    if (answer.kind === 'in_doubt') submitted.noteInDoubt(part, answer.silent);
    else if (answer.kind === 'not_sent') {
      if (isLate) submitted.noteUnsent(part);
      else paced.putBack(waiting);
    } else if (answer.status === 0) accept(submitted, part, answer.messageId);
    else refuse(waiting, answer.status, isLate);
    paced.pump();
  }

  function accept(submitted: SubmittedText, part: number, id: string): void {
    rate.noteAccepted();
    answeredMs = clock.steadyMs();
    onAccepted(id);
    submitted.noteAccepted(part, id, receiptKeyOf(id, settings().message_id));
  }

  function refuse(waiting: WaitingPart, status: number, isLate: boolean): void {
    const { submitted, part } = waiting;
    const refusal = { ...refusalOf(status, readSubmitErrors(settings().submit_errors)), reported: statusWords(status) };
    if (refusal.outcome !== 'throttled') submitted.noteRefused(part, refusal);
    else if (paced.noteThrottled(waiting, isLate)) submitted.noteWaits(part, refusal.reported);
    else submitted.noteRefused(part, { ...refusal, afterMs: paced.throttledMs() });
  }

  return paced;
}
