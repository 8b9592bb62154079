import { type FairShare, LeftQueue, type Place } from './fair-share.ts';

/** Does equal reads that wait for their turn once, and gives the result to all who wait. */
export type SharedReads = <Result>(key: string, place: Place, read: () => Promise<Result>) => Promise<Result>;

interface WaitingRead {
  found: Promise<unknown>;
  readers: number;
  /** Takes it out of the queue. Without effect once it has begun. */
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
    // Each reader has a promise of its own; this one only ends the wait of a read that never began.
    made.found.then(forget, forget);
    return made;
  }

  return (key, place, read) => {
    const joined = waiting.get(key) ?? begin(key, place, read);
    joined.readers++;
    return new Promise((resolve, reject) => {
      // Safe: the key names the kind of read.
      joined.found.then((found) => resolve(found as Awaited<ReturnType<typeof read>>), reject);
      place.onWaiting?.(() => {
        reject(new LeftQueue());
        joined.readers--;
        if (joined.readers === 0) joined.leave();
      });
    });
  };
}
