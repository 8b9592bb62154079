/** Waits of a worker, each of which ends at once when the worker is told to stop. */
export interface Rest {
  readonly stopped: boolean;
  /** Counts `wake`, so that one that came while nobody waited is not missed. */
  readonly wakes: number;
  /** Also over as soon as somebody wakes it. */
  untilWoken(ms: number): Promise<void>;
  full(ms: number): Promise<void>;
  wake(): void;
  stop(): void;
}

export function createRest(): Rest {
  const waiting = new Set<{ end: () => void; wakeable: boolean }>();
  let stopped = false;
  let wakes = 0;

  function wait(ms: number, wakeable: boolean): Promise<void> {
    if (stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const entry = {
        wakeable,
        end() {
          clearTimeout(timer);
          waiting.delete(entry);
          resolve();
        },
      };
      const timer = setTimeout(entry.end, ms);
      waiting.add(entry);
    });
  }

  return {
    get stopped() {
      return stopped;
    },
    get wakes() {
      return wakes;
    },
    untilWoken: (ms) => wait(ms, true),
    full: (ms) => wait(ms, false),
    wake() {
      wakes++;
      for (const { end, wakeable } of [...waiting]) if (wakeable) end();
    },
    stop() {
      stopped = true;
      for (const { end } of [...waiting]) end();
    },
  };
}
