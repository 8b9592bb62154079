/** A worker's sleeps; each ends at once on `stop`. */
export interface WakeableSleep {
  readonly stopped: boolean;
  /** Counts calls of `wake`, so that a worker sees one that came while it was busy. */
  readonly wakes: number;
  /** Ends early on `wake`, with true. */
  untilWoken(ms: number): Promise<boolean>;
  ignoringWakes(ms: number): Promise<void>;
  wake(): void;
  /** Ends the longest wakeable sleep. False if there is none. */
  wakeOne(): boolean;
  stop(): void;
}

export function createWakeableSleep(): WakeableSleep {
  const waiting = new Set<{ end: (woken: boolean) => void; wakeable: boolean }>();
  let stopped = false;
  let wakes = 0;

  function wait(ms: number, wakeable: boolean): Promise<boolean> {
    if (stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      const entry = {
        wakeable,
        end(woken: boolean) {
          clearTimeout(timer);
          waiting.delete(entry);
          resolve(woken);
        },
      };
      const timer = setTimeout(entry.end, ms, false);
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
    ignoringWakes: async (ms) => void (await wait(ms, false)),
    wake() {
      wakes++;
      for (const { end, wakeable } of [...waiting]) if (wakeable) end(true);
    },
    wakeOne() {
      for (const { end, wakeable } of waiting) {
        if (!wakeable) continue;
        end(true);
        return true;
      }
      return false;
    },
    stop() {
      stopped = true;
      for (const { end } of [...waiting]) end(false);
    },
  };
}
