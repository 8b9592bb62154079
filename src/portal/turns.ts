/** Runs one job when its turn comes. */
export type InTurn = <Result>(job: () => Promise<Result>) => Promise<Result>;

export interface Turns {
  /**
   * Holds a place for this key during the work, which runs its slow jobs through `inTurn`. Throws at once when the
   * key's places or all places are taken.
   */
  withPlace<Result>(key: string, work: (inTurn: InTurn) => Promise<Result>): Promise<Result>;
}

export interface TurnsOptions {
  /** Jobs that run at once. */
  running: number;
  placesPerKey: number;
  places: number;
  onKeyFull: () => Error;
  onAllFull: () => Error;
}

/** Shares a few runners fairly: keys take turns, so a key with many jobs delays another by at most one job. */
export function createTurns({ running: most, placesPerKey, places, onKeyFull, onAllFull }: TurnsOptions): Turns {
  const placesOf = new Map<string, number>();
  /** Waiting jobs by key. Keys are in the order of their next turns. */
  const waiting = new Map<string, (() => void)[]>();
  let taken = 0;
  let running = 0;

  function takePlace(key: string): void {
    const own = placesOf.get(key) ?? 0;
    if (own >= placesPerKey) throw onKeyFull();
    if (taken >= places) throw onAllFull();
    placesOf.set(key, own + 1);
    taken++;
  }

  function leavePlace(key: string): void {
    const own = placesOf.get(key) ?? 0;
    if (own > 1) placesOf.set(key, own - 1);
    else placesOf.delete(key);
    taken--;
  }

  function waitForTurn(key: string): Promise<void> {
    return new Promise((start) => {
      const own = waiting.get(key);
      if (own === undefined) waiting.set(key, [start]);
      else own.push(start);
    });
  }

  /** Hands the runner straight to the next job, so that a new job cannot overtake it. */
  function passOn(): void {
    const [next] = waiting;
    if (next === undefined) {
      running--;
      return;
    }
    const [key, starts] = next;
    const start = starts.shift();
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    start?.();
  }

  return {
    async withPlace(key, work) {
      takePlace(key);
      try {
        return await work(async (job) => {
          if (running >= most) await waitForTurn(key);
          else running++;
          try {
            return await job();
          } finally {
            passOn();
          }
        });
      } finally {
        leavePlace(key);
      }
    },
  };
}
