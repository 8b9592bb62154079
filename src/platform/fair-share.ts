import { unavailable } from './errors.ts';

/** Divides a scarce resource between callers: each gets its turn, and one with a long queue delays only itself. */
export interface FairShare {
  /** Runs the work when it is this caller's turn. Refuses with a 503 when the caller has too much waiting. */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
}

export interface FairShareOptions {
  /** How much runs at the same time, over all callers. */
  concurrent: number;
  /** How much of it is one caller's at most. */
  perCaller: number;
  /** How much of one caller's may wait. */
  waitingPerCaller: number;
  /** How long work waits for its turn before it is refused. */
  waitMs: number;
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
  const { concurrent, perCaller, waitingPerCaller, waitMs } = options;
  // Iterated in the order of insertion. A caller that got a turn is put last, so that all others come first.
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

  /** Resolves when the caller's turn has come. */
  function takeTurn(caller: Caller): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => turn.refuse(), waitMs);
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
        throw unavailable('You have too many of these requests under way. Try again shortly.');
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
