import type { Clock } from '../../platform/clock.ts';
import type { Capacity, OutgoingText, SubmitResult } from '../carrier/carrier.ts';
import { codeAnswerMs } from '../carrier/code-patience.ts';
import { createPacedSender, type GivenText, type PacedSender, type WaitingItem } from '../carrier/paced-sender.ts';
import type { Verdict } from './answer.ts';
import type { CarrierCondition } from './condition.ts';

type WaitingText = GivenText & WaitingItem;

/** Sends texts with one request each. */
export interface HttpSender
  extends Pick<PacedSender<WaitingText>, 'capacity' | 'throttledMs' | 'submit' | 'pump' | 'setPaused'> {
  /** The share of the account's rate that this node has now; 0 until it is known. */
  setShare(share: number): void;
  /** Returns all unsent texts, and waits for the answers to the rest. */
  stop(withinMs: number): Promise<void>;
}

/** The result of a request. `overdue`: `leave` returned false, and no byte was written. */
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
  /** Calls `leave` right before it writes the request. False: the text is overdue, and must not be written. */
  send: (text: OutgoingText, leave: () => boolean) => Promise<Sent>;
  /** Called when there is room again after there was none. */
  onCapacity: () => void;
}

/** Texts that may wait ahead of the requests under way, so that no connection is idle between two claims. */
const ahead = { least: 10, most: 500 };

const unreachable: SubmitResult = { outcome: 'retry', error: 'carrier_unavailable', elsewhere: true };

export function createHttpSender(options: HttpSenderOptions): HttpSender {
  const { perSecond, concurrency, clock, condition, send, onCapacity } = options;
  let hasShare = false;
  let onIdle = () => {};
  const paced: PacedSender<WaitingText> = createPacedSender({
    clock,
    perSecond: () => perSecond,
    slots: most,
    free: () => most() - paced.underWay,
    isOff: () => most() === 0,
    takes,
    toItems: (given) => [{ ...given, lane: given.text.lane }],
    send: (waiting) => void run(waiting),
    returnUnsent({ answer, index, onAnswered }) {
      answer(index, { outcome: 'not_sent' });
      onAnswered();
    },
    onCapacity,
  });
  const { rate } = paced;

  /** How many requests may be under way now. */
  function most(): number {
    if (condition.state === 'down') return 0;
    return condition.state === 'probing' ? 1 : concurrency;
  }

  function takes(soon: number): Capacity {
    if (!hasShare || most() === 0) return { first: 0, bulk: 0 };
    const free = Math.max(0, most() - paced.underWay);
    const isProbing = condition.state === 'probing';
    const more = isProbing ? 0 : Math.min(ahead.most, Math.max(Math.min(ahead.least, concurrency), soon));
    const wanted = rate.isLimited ? Math.max(1, Math.min(soon, free + more)) : free + more;
    if (!isProbing) return paced.roomFor(wanted);
    const room = Math.max(0, wanted - paced.size);
    return { first: room, bulk: room };
  }

  async function run(waiting: WaitingText): Promise<void> {
    const { text, index, progress } = waiting;
    let isAnswered = false;
    let isWritten = false;
    let patience: NodeJS.Timeout | undefined;
    const settle = (result: SubmitResult) => {
      waiting.answer(index, result);
      if (!isAnswered) waiting.onAnswered();
      isAnswered = true;
    };
    // A code that is not written or not answered in time goes to another carrier. `leave` then refuses to write it.
    const hurry = () => {
      clearTimeout(patience);
      const giveUp = () => settle(isWritten ? { outcome: 'in_doubt', silent: true } : unreachable);
      if (text.isCode) patience = setTimeout(giveUp, codeAnswerMs);
    };
    const leave = () => {
      if (isAnswered || paced.isOverdue(waiting)) return false;
      isWritten = true;
      rate.noteWritten();
      progress(index, 'written');
      hurry();
      return true;
    };
    hurry();
    const sent = await send(text, leave).catch((): Sent => ({ kind: 'in_doubt', reason: 'The request failed.' }));
    clearTimeout(patience);
    paced.release(waiting, isWritten);
    note(sent);
    const result = resultOf(sent);
    // A late answer never resends: the text may be in the queue of the database again, and only a claim may submit it.
    if (result.outcome !== 'throttled') settle(result);
    else if (paced.noteThrottled(waiting, isAnswered, result.afterMs)) {
      progress(index, 'throttled', result.reported);
      progress(index, 'waits');
    } else settle({ ...result, afterMs: paced.throttledMs() });
    paced.pump();
    if (paced.underWay === 0) onIdle();
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

  return {
    capacity: paced.capacity,
    throttledMs: paced.throttledMs,
    submit: paced.submit,
    pump: paced.pump,
    setPaused: paced.setPaused,
    setShare(share) {
      hasShare = share > 0;
      paced.setShare(share);
    },
    async stop(withinMs) {
      paced.stop();
      if (paced.underWay === 0) return;
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
