// Tests: test/smpp/smsc.test.ts
import type { Clock } from '../platform/clock.ts';
import type { StoredText } from './text-store.ts';

/** Where receipts of a system_id can be sent now. */
export interface Receiver {
  readonly room: number;
  send(text: StoredText): void;
}

const mostWaiting = 200_000;

interface Entry {
  text: StoredText;
  dueMs: number;
}

/** Holds receipts that are not due yet, and those that no receiver takes yet, in the order in which they fall due. */
export function createReceiptQueue(clock: Clock, receiverFor: (systemId: string) => Receiver | undefined) {
  /** Nearly sorted by due time: after a change of the delay, some entries wait longer than they should. */
  let coming: Entry[] = [];
  let first = 0;
  const held = new Map<string, { texts: StoredText[]; first: number }>();
  let heldCount = 0;
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;

  function sendDue(): void {
    timer = undefined;
    const nowMs = clock.steadyMs();
    for (let entry = coming[first]; entry !== undefined && entry.dueMs <= nowMs; entry = coming[first]) {
      first++;
      offer(entry.text);
    }
    if (first > 10_000 || first === coming.length) {
      coming = coming.slice(first);
      first = 0;
    }
    watch();
  }

  function watch(): void {
    const entry = coming[first];
    if (entry === undefined || timer !== undefined) return;
    timer = setTimeout(sendDue, Math.max(1, entry.dueMs - clock.steadyMs()));
  }

  function offer(text: StoredText): void {
    const receiver = held.has(text.systemId) ? undefined : receiverFor(text.systemId);
    if (receiver !== undefined && receiver.room > 0) receiver.send(text);
    else hold(text);
  }

  function hold(text: StoredText): void {
    if (heldCount >= mostWaiting) {
      lost++;
      return;
    }
    const list = held.get(text.systemId);
    if (list === undefined) held.set(text.systemId, { texts: [text], first: 0 });
    else list.texts.push(text);
    heldCount++;
  }

  function wake(systemId: string): void {
    const list = held.get(systemId);
    if (list === undefined) return;
    for (let text = list.texts[list.first]; text !== undefined; text = list.texts[list.first]) {
      const receiver = receiverFor(systemId);
      if (receiver === undefined || receiver.room <= 0) return;
      list.first++;
      heldCount--;
      receiver.send(text);
    }
    held.delete(systemId);
  }

  return {
    /** Sends the text's receipt after a while, and keeps it until a receiver has room. */
    add(text: StoredText, afterMs: number): void {
      if (afterMs <= 0) {
        offer(text);
        return;
      }
      coming.push({ text, dueMs: clock.steadyMs() + afterMs });
      watch();
    },
    /** A receiver was bound or has room again. */
    wake,
    get waiting(): number {
      return coming.length - first + heldCount;
    },
    /** Receipts that were dropped because too many waited. */
    get lost(): number {
      return lost;
    },
    stop(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
