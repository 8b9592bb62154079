import type { WakeableSleep } from '../../platform/work/wakeable-sleep.ts';

/**
 * Which of a worker's loops looks at the queue. A wake is one look, whoever makes it; a look that finds texts leads to the
 * next one, because there may be more.
 */
export interface QueueLooks {
  /** There may be texts. */
  wake(): void;
  /**
   * Resolves when the caller should take its turn: at once, when it is woken (true), or after `ms` (false). `taken` is what
   * its last look has taken.
   */
  next(taken: number, ms: number): Promise<boolean>;
  /** Whether there is anything to look for when the caller's turn has come. It waits for a look that is under way. */
  isWanted(): Promise<boolean>;
  /**
   * A look begins; the returned function ends it. If it does not see all texts (`whole` is false), the one who finishes a
   * batch has to look again.
   */
  begin(whole: boolean): () => void;
}

export function createQueueLooks(sleep: Pick<WakeableSleep, 'untilWoken' | 'wakeOne'>): QueueLooks {
  /** There was a wake since the last look began, or there was none yet. */
  let isDue = true;
  /** The last look saw a part of the queue. */
  let isLeft = false;
  let underWay: Promise<void> | undefined;

  return {
    wake() {
      isDue = true;
      sleep.wakeOne();
    },
    async next(taken, ms) {
      return isDue || (taken > 0 && isLeft) || sleep.untilWoken(ms);
    },
    async isWanted() {
      while (underWay !== undefined) await underWay;
      return isDue || isLeft;
    },
    begin(whole) {
      isDue = false;
      isLeft = !whole;
      let finish = () => {};
      const look = new Promise<void>((resolve) => {
        finish = resolve;
      });
      underWay = look;
      return () => {
        if (underWay === look) underWay = undefined;
        finish();
      };
    },
  };
}
