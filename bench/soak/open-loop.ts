/** Something that callers do at a fixed rate, however slow the answers are. */
export interface Act {
  perSecond: number;
  /** `dueMs` is when it should have begun. */
  run(dueMs: number): Promise<void>;
}

export interface OpenLoop {
  /** Acts that were not begun because too many others had not ended. */
  readonly left: number;
  /** Begins no other act, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

const tickMs = 5;
/** A service that answers nothing must not take all the memory here. */
const mostAtOnce = 4000;

export function startOpenLoop(acts: Act[], fail: (error: unknown) => void): OpenLoop {
  const startedMs = performance.now();
  const begun = acts.map(() => 0);
  const underWay = new Set<Promise<void>>();
  let left = 0;
  const begin = ({ run }: Act, dueMs: number) => {
    if (underWay.size >= mostAtOnce) {
      left++;
      return;
    }
    const done = run(dueMs)
      .catch(fail)
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedMs;
    for (const [index, act] of acts.entries()) {
      // A beat of its own for each, so that not all begin in the same millisecond.
      const due = (elapsedMs * act.perSecond) / 1000 - index / acts.length;
      for (let next = begun[index] ?? 0; next < due; next++) {
        begun[index] = next + 1;
        begin(act, startedMs + ((next + index / acts.length) * 1000) / act.perSecond);
      }
    }
  }, tickMs);
  return {
    get left() {
      return left;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
