// Tests: src/delivery/smpp/sender.test.ts, src/delivery/http/sender.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Answer, Capacity, OutgoingText, Progress } from './carrier.ts';
import { codeWaitMs } from './code-patience.ts';
import { createLaneQueue, keptForFirst, type LaneItem } from './lane-queue.ts';
import { createSubmitRate, type SubmitRate } from './rate.ts';

/** A text that a worker gave to a sender, and where its answer goes. */
export interface GivenText {
  text: OutgoingText;
  /** The index of the text in its call to `submit`. */
  index: number;
  answer: Answer;
  progress: Progress;
  /** Called once, after the first answer. */
  onAnswered: () => void;
  /** After this time (steady) the text goes back to the queue in the database: another worker may claim it soon. */
  untilMs: number;
}

/** A text, or a part of one, that waits for a free slot. */
export interface WaitingItem extends LaneItem {
  readonly text: OutgoingText;
  readonly untilMs: number;
}

/** The protocol's functions that a paced sender uses. */
export interface PacedSenderOptions<Item extends WaitingItem> {
  clock: Clock;
  /** The account's rate now, for all nodes together; null for no limit. */
  perSecond: () => number | null;
  /** The number of slots that can be used now, free or not. */
  slots: () => number;
  /** The slots that are free now. */
  free: () => number;
  /** True while nothing can be sent: then all waiting items are returned. */
  isOff: () => boolean;
  /** The capacity now. At the current rate, `soon` texts leave before the next claim. */
  takes: (soon: number) => Capacity;
  /** Cuts a text into the items that are sent one by one. */
  toItems: (given: GivenText) => Item[];
  /** Uses one slot. `release` frees it. */
  send: (item: Item) => void;
  /** The item was not sent, and returns to the worker. */
  returnUnsent: (item: Item) => void;
  /** True if an item that waits need not be sent. */
  isRefused?: (item: Item) => boolean;
  /** Called when there is room again after there was none. */
  onCapacity: () => void;
}

/** Queue and pump of a sender: in lanes, within the rate, and within the slots that the protocol has. */
export interface PacedSender<Item extends WaitingItem> {
  readonly rate: SubmitRate;
  /** Items that hold a slot. */
  readonly underWay: number;
  /** Items that wait here. */
  readonly size: number;
  capacity(): Capacity;
  /** The rest of the pause that the carrier wants; 0 if it wants none. */
  throttledMs(): number;
  submit(texts: OutgoingText[], answer: Answer, progress?: Progress): Promise<void>;
  /** Sends the items that may go now. */
  pump(): void;
  setPaused(paused: boolean): void;
  /** The share of the account's rate that this node has now. Call it again when the rate has changed. */
  setShare(share: number): void;
  /** How many more texts of each lane may wait, if at most `most` of each lane may. */
  roomFor(most: number): Capacity;
  /** True once the item, or its text, is too old to be sent. */
  isOverdue(item: Item): boolean;
  /** Frees the slot of an item: it was answered, or given up. */
  release(item: Item, isWritten: boolean): void;
  /** The item waits again, in its old position. */
  putBack(item: Item): void;
  /** The carrier throttles. Puts the item back unless the pause is too long for it, and says whether it did. */
  noteThrottled(item: Item, isLate: boolean, afterMs?: number): boolean;
  /** Returns all unsent items. */
  stop(): void;
}

/** Maximum wait of a text here: then it goes back to the queue in the database. */
export const waitMs = 10_000;
/** Texts for this time are taken ahead, so that no slot is idle between two claims. */
const aheadMs = 250;
/** A poll finds overdue items, even where the rate allows nothing for longer. */
const pollEveryMs = 250;

export function createPacedSender<Item extends WaitingItem>(options: PacedSenderOptions<Item>): PacedSender<Item> {
  const { clock, perSecond, slots, free, isOff, takes, toItems, send, returnUnsent, isRefused, onCapacity } = options;
  const rate = createSubmitRate(clock, perSecond());
  const queue = createLaneQueue<Item>();
  const held = { first: 0, bulk: 0 };
  let isPaused = false;
  let isStopped = false;
  let isPumping = false;
  let wasFull = true;
  let nextPoll: NodeJS.Timeout | undefined;

  function isOverdue({ untilMs, text }: Item): boolean {
    return untilMs <= clock.steadyMs() || text.expiresAtMs <= clock.nowMs();
  }

  function capacity(): Capacity {
    if (isPaused || isStopped || rate.isPaused) return { first: 0, bulk: 0 };
    return takes(Math.ceil((rate.perSecond * aheadMs) / 1000));
  }

  function reportCapacity(): void {
    const { first, bulk } = capacity();
    const isFull = first === 0 && bulk === 0;
    if (wasFull && !isFull) onCapacity();
    wasFull = isFull;
  }

  function pump(): void {
    // An answer that comes while items are being sent calls `pump` again.
    if (isPumping) return;
    isPumping = true;
    try {
      if (isOff()) returnAll(() => true);
      while (sendNext());
    } finally {
      isPumping = false;
    }
    planPoll();
    reportCapacity();
  }

  function planPoll(): void {
    if (nextPoll !== undefined || queue.size === 0) return;
    const inMs = Math.min(pollEveryMs, Math.max(1, rate.nextMs - clock.steadyMs()));
    nextPoll = setTimeout(() => {
      nextPoll = undefined;
      returnAll(isOverdue);
      pump();
    }, inMs);
  }

  function sendNext(): boolean {
    if (queue.size === 0 || free() <= 0) return false;
    const all = slots();
    const next = queue.next(held.bulk < all - keptForFirst(all));
    if (next === undefined) return false;
    // Checked at each send: after a stall, answers free slots before any timer finds overdue items.
    if (isRefused?.(next) || isOverdue(next)) {
      queue.drop(next);
      returnUnsent(next);
      return true;
    }
    if (!rate.take()) return false;
    queue.take(next);
    held[next.lane]++;
    send(next);
    return true;
  }

  function returnAll(fits: (item: Item) => boolean): void {
    if (queue.size > 0) queue.takeAll(fits).forEach(returnUnsent);
  }

  function throttledMs(): number {
    return rate.isPaused ? rate.nextMs - clock.steadyMs() : 0;
  }

  return {
    rate,
    get underWay() {
      return held.first + held.bulk;
    },
    get size() {
      return queue.size;
    },
    capacity,
    throttledMs,
    submit: (texts, answer, progress = () => {}) =>
      new Promise((resolve) => {
        let open = texts.length;
        const untilMs = clock.steadyMs() + waitMs;
        const onAnswered = () => {
          if (--open === 0) resolve();
        };
        for (const [index, text] of texts.entries())
          for (const item of toItems({ text, index, answer, progress, onAnswered, untilMs })) queue.add(item);
        pump();
      }),
    pump,
    setPaused(paused) {
      isPaused = paused;
      reportCapacity();
    },
    setShare(share) {
      const allowed = perSecond();
      rate.setLimit(allowed === null ? null : allowed * share);
      reportCapacity();
    },
    roomFor: (most) => ({
      first: Math.max(0, most - queue.waiting('first')),
      bulk: Math.max(0, most - queue.waiting('bulk')),
    }),
    isOverdue,
    release({ lane }, isWritten) {
      held[lane]--;
      if (!isWritten) rate.noteUnsent();
    },
    putBack: queue.putBack,
    noteThrottled(item, isLate, afterMs) {
      rate.noteThrottled(afterMs);
      const isLong = throttledMs() > codeWaitMs;
      const mayWait = !isLate && !isStopped && rate.nextMs < item.untilMs && !(isLong && item.text.isCode);
      // A throttled item is the first to be sent after the pause.
      if (mayWait) queue.putBack(item);
      if (isLong) returnAll(({ text }) => text.isCode);
      return mayWait;
    },
    stop() {
      isStopped = true;
      clearTimeout(nextPoll);
      returnAll(() => true);
    },
  };
}
