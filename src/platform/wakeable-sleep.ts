/** A worker's sleeps; each ends at once on `stop`. */
export interface WakeableSleep {
  readonly stopped: boolean;
  /** Counts calls of `wake`, so that a worker sees one that came while it was busy. */
  readonly wakes: number;
  /** Ends early on `wake`. */
  untilWoken(ms: number): Promise<void>;
  ignoringWakes(ms: number): Promise<void>;
  wake(): void;
  stop(): void;
}

export function createWakeableSleep(): WakeableSleep {
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
    ignoringWakes: (ms) => wait(ms, false),
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
