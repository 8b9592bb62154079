import { type FairShare, LeftQueue, type Place } from './fair-share.ts';

/** Runs equal reads that wait for their turn only once, and returns the result to all who wait. */
export type SharedReads = <Result>(key: string, place: Place, read: () => Promise<Result>) => Promise<Result>;

interface WaitingRead {
  found: Promise<unknown>;
  readers: number;
  /** Removes the read from the queue. No effect once it has begun. */
  leave: () => void;
}

/**
 * A request joins only a read that has not begun, so it sees all that was written before it arrived. The key must name
 * the tenant and everything that the result depends on.
 */
export function createSharedReads(turns: FairShare): SharedReads {
  const waiting = new Map<string, WaitingRead>();

  function begin<Result>(key: string, place: Place, read: () => Promise<Result>): WaitingRead {
    const made: WaitingRead = { found: Promise.resolve(), readers: 0, leave: () => {} };
    const forget = () => {
      if (waiting.get(key) === made) waiting.delete(key);
    };
    const onWaiting = (leave: () => void) => {
      made.leave = leave;
      waiting.set(key, made);
    };
    made.found = turns.run({ ...place, onWaiting }, () => {
      forget();
      return read();
    });
    // Readers get errors through their own promises; here a read that leaves the queue before it begins must be forgotten.
    made.found.then(forget, forget);
    return made;
  }

  return (key, place, read) => {
    const joined = waiting.get(key) ?? begin(key, place, read);
    joined.readers++;
    return new Promise((resolve, reject) => {
      // The cast is safe: equal keys mean the same kind of read.
      joined.found.then((found) => resolve(found as Awaited<ReturnType<typeof read>>), reject);
      place.onWaiting?.(() => {
        reject(new LeftQueue());
        joined.readers--;
        if (joined.readers === 0) joined.leave();
      });
    });
  };
}
