import { createRecordBook, type RecordBook } from './record-book.ts';

/** Something that the service promises, and how often it was looked at and broken. */
export interface Promised {
  name: string;
  looked: number;
  broken: number;
  /** What broke it first. */
  first: string | undefined;
}

/** What callers were told, kept apart from the service, so that both can be compared in the end. */
export interface Ledger {
  texts: RecordBook;
  codes: RecordBook;
  /** Counts one look at a promise. `what` is only asked for when it is broken. */
  look(name: string, holds: boolean, what?: () => string): void;
  promises(): Promised[];
  /** Something that may happen, and is worth a number in the report. */
  count(what: string, by?: number): void;
  counts(): ReadonlyMap<string, number>;
}

/** Who is told of events. Texts are told to all three, verifications to the webhook. */
export const listeners = { feed: 0, stream: 1, webhook: 2 } as const;
export type Listener = keyof typeof listeners;

export function createLedger(): Ledger {
  const promises = new Map<string, Promised>();
  const counts = new Map<string, number>();
  const listenerCount = Object.keys(listeners).length;
  return {
    texts: createRecordBook(listenerCount),
    codes: createRecordBook(listenerCount),
    look(name, holds, what) {
      const promised = promises.get(name) ?? { name, looked: 0, broken: 0, first: undefined };
      promises.set(name, promised);
      promised.looked++;
      if (holds) return;
      promised.broken++;
      promised.first ??= what?.();
    },
    promises: () => [...promises.values()],
    count: (what, by = 1) => void counts.set(what, (counts.get(what) ?? 0) + by),
    counts: () => counts,
  };
}
