import { createRecordBook, type RecordBook } from './record-book.ts';

/** Something that the service promises, and how often it was checked and broken. */
export interface Promised {
  name: string;
  checked: number;
  broken: number;
  /** What broke it first. */
  first: string | undefined;
}

/** The responses that callers got, kept apart from the service, so that both can be compared in the end. */
export interface Ledger {
  texts: RecordBook;
  codes: RecordBook;
  /** Counts one check of a promise. `what` is only asked for when it is broken. */
  check(name: string, holds: boolean, what?: () => string): void;
  promises(): Promised[];
  /** Something that may happen, and is worth a number in the report. */
  count(what: string, by?: number): void;
  counts(): ReadonlyMap<string, number>;
}

/** The receivers of events: of texts all three, of verifications the webhook. */
export const listeners = { feed: 0, stream: 1, webhook: 2 } as const;
export type Listener = keyof typeof listeners;

export function createLedger(): Ledger {
  const promises = new Map<string, Promised>();
  const counts = new Map<string, number>();
  const listenerCount = Object.keys(listeners).length;
  return {
    texts: createRecordBook(listenerCount),
    codes: createRecordBook(listenerCount),
    check(name, holds, what) {
      const promised = promises.get(name) ?? { name, checked: 0, broken: 0, first: undefined };
      promises.set(name, promised);
      promised.checked++;
      if (holds) return;
      promised.broken++;
      promised.first ??= what?.();
    },
    promises: () => [...promises.values()],
    count: (what, by = 1) => void counts.set(what, (counts.get(what) ?? 0) + by),
    counts: () => counts,
  };
}
