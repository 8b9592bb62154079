import { unavailable } from '../errors.ts';

/** Shares a scarce resource between callers in turns: a caller with a long queue delays only itself. */
export interface FairShare {
  /**
   * Runs the work at the caller's turn. Throws a 503 when too much of the caller's work waits, or it waits too long, and
   * `LeftQueue` when it leaves.
   */
  run<Result>(place: Place | string, work: () => Promise<Result>): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
}

/** The queue in which work waits. A caller's name alone stands for its only queue. */
export interface Place {
  /** The caller that takes turns with others. */
  caller: string;
  /** The caller's queues take turns as well: one for each API. */
  queue: string;
  /** Most that may wait in this queue. */
  room: number;
  /** Called once if the work has to wait, with a function that takes it out of the queue. */
  onWaiting?: (leave: () => void) => void;
}

export interface FairShareOptions {
  /** Most tasks that run at once, over all callers. */
  concurrent: number;
  /** Most tasks of one caller that run at once. */
  perCaller: number;
  /** Maximum while no other caller has work; `perCaller` by default. */
  aloneCaller?: number;
  /** Most tasks that may wait in a queue that names no room; no limit by default. */
  waitingPerCaller?: number;
  /** Most tasks that wait in all: beyond it a queue has no more room than `waitingPerCaller`. */
  waitingInAll?: number;
  /** How long a task waits for its turn before a 503; without an end by default. */
  waitMs?: number;
}

/** The work was taken out of its queue, because its caller is gone. */
export class LeftQueue extends Error {}

interface Caller {
  running: number;
  /** Only queues in which something waits. A queue that got a turn moves to the end. */
  queues: Map<string, Turn[]>;
}

interface Turn {
  begin: () => void;
}

export function createFairShare(options: FairShareOptions): FairShare {
  const { concurrent, perCaller, aloneCaller = perCaller, waitMs } = options;
  const { waitingPerCaller = Number.POSITIVE_INFINITY, waitingInAll = Number.POSITIVE_INFINITY } = options;
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
      takeFirst(caller)?.begin();
    }
  }

  function findNext(): [string, Caller] | undefined {
    const most = callers.size === 1 ? aloneCaller : perCaller;
    for (const entry of callers) {
      if (entry[1].queues.size > 0 && entry[1].running < most) return entry;
    }
    return undefined;
  }

  function takeFirst({ queues }: Caller): Turn | undefined {
    for (const [name, queue] of queues) {
      queues.delete(name);
      const turn = queue.shift();
      if (queue.length > 0) queues.set(name, queue);
      return turn;
    }
    return undefined;
  }

  function leaveQueue({ queues }: Caller, name: string, turn: Turn): void {
    const queue = queues.get(name) ?? [];
    queue.splice(queue.indexOf(turn), 1);
    if (queue.length === 0) queues.delete(name);
  }

  function takeTurn(caller: Caller, { queue: name, onWaiting }: Place): Promise<void> {
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      const end = (error: Error) => {
        if (hasBegun) return;
        hasBegun = true;
        clearTimeout(late);
        waiting--;
        leaveQueue(caller, name, turn);
        reject(error);
      };
      const late = waitMs === undefined ? undefined : setTimeout(() => end(tooLate()), waitMs);
      const turn: Turn = {
        begin() {
          hasBegun = true;
          clearTimeout(late);
          waiting--;
          caller.running++;
          running++;
          resolve();
        },
      };
      waiting++;
      const queue = caller.queues.get(name);
      if (queue === undefined) caller.queues.set(name, [turn]);
      else queue.push(turn);
      beginNext();
      if (!hasBegun) onWaiting?.(() => end(new LeftQueue()));
    });
  }

  function requireRoom(caller: Caller, { queue, room }: Place): void {
    const ahead = caller.queues.get(queue)?.length ?? 0;
    const most = waiting < waitingInAll ? room : Math.min(room, waitingPerCaller);
    if (ahead >= most) throw unavailable('You have too many of these requests in progress. Try again shortly.');
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    async run(given, work) {
      const place = typeof given === 'string' ? { caller: given, queue: '', room: waitingPerCaller } : given;
      const caller = callers.get(place.caller) ?? { running: 0, queues: new Map<string, Turn[]>() };
      requireRoom(caller, place);
      callers.set(place.caller, caller);
      try {
        await takeTurn(caller, place);
        try {
          return await work();
        } finally {
          caller.running--;
          running--;
          beginNext();
        }
      } finally {
        if (caller.running === 0 && caller.queues.size === 0) callers.delete(place.caller);
      }
    },
  };
}

function tooLate(): Error {
  return unavailable('The service is busy with your other requests. Try again shortly.');
}
