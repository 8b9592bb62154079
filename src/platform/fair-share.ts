import { unavailable } from './errors.ts';

/** Shares a scarce resource between callers in turns: a caller with a long queue delays only itself. */
export interface FairShare {
  /**
   * Runs the work at the caller's turn. Throws a 503 when too much of the caller's work waits, or it waits too long.
   */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
}

export interface FairShareOptions {
  /** Most tasks that run at once, over all callers. */
  concurrent: number;
  /** Most tasks of one caller that run at once. */
  perCaller: number;
  /** Most tasks of one caller that may wait; no limit by default. */
  waitingPerCaller?: number;
  /** How long a task waits for its turn before a 503; without an end by default. */
  waitMs?: number;
}

interface Caller {
  running: number;
  waiting: Turn[];
}

interface Turn {
  begin: () => void;
  refuse: () => void;
}

export function createFairShare(options: FairShareOptions): FairShare {
  const { concurrent, perCaller, waitingPerCaller = Number.POSITIVE_INFINITY, waitMs } = options;
  // A Map iterates in insertion order. A caller that got a turn moves to the end.
  const callers = new Map<string, Caller>();
  let running = 0;
  let waiting = 0;

  function beginNext(): void {
    while (running < concurrent) {
      const next = findNext();
      if (next === undefined) return;
      const [name, caller] = next;
      callers.delete(name);
      callers.set(name, caller);
      caller.waiting.shift()?.begin();
    }
  }

  function findNext(): [string, Caller] | undefined {
    for (const entry of callers) {
      if (entry[1].waiting.length > 0 && entry[1].running < perCaller) return entry;
    }
    return undefined;
  }

  function takeTurn(caller: Caller): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = waitMs === undefined ? undefined : setTimeout(() => turn.refuse(), waitMs);
      const turn: Turn = {
        begin() {
          clearTimeout(late);
          waiting--;
          caller.running++;
          running++;
          resolve();
        },
        refuse() {
          waiting--;
          caller.waiting.splice(caller.waiting.indexOf(turn), 1);
          reject(unavailable('The service is busy with your other requests. Try again shortly.'));
        },
      };
      waiting++;
      caller.waiting.push(turn);
    });
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    async run(name, work) {
      const caller = callers.get(name) ?? { running: 0, waiting: [] };
      callers.set(name, caller);
      if (caller.waiting.length >= waitingPerCaller) {
        throw unavailable('You have too many of these requests in progress. Try again shortly.');
      }
      const turn = takeTurn(caller);
      beginNext();
      try {
        await turn;
        try {
          return await work();
        } finally {
          caller.running--;
          running--;
          beginNext();
        }
      } finally {
        if (caller.running === 0 && caller.waiting.length === 0) callers.delete(name);
      }
    },
  };
}
