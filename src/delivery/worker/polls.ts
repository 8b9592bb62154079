import type { WakeableSleep } from '../../platform/work/wakeable-sleep.ts';

/**
 * Decides which of a worker's loops polls the queue. Each wake leads to one poll, by any loop. A poll that finds texts leads
 * to the next one, because there may be more.
 */
export function createQueuePolls(sleep: Pick<WakeableSleep, 'untilWoken' | 'wakeOne'>) {
  /** There was a wake since the last poll began, or there was no poll yet. */
  let isDue = true;
  /** Whether the last poll left a part of the queue unread. */
  let isLeft = false;
  let underWay: Promise<void> | undefined;

  return {
    /** Call it when there may be texts. */
    wake(): void {
      isDue = true;
      sleep.wakeOne();
    },
    /**
     * Resolves when the caller should take its turn: at once, when it is woken (true), or after `ms` (false). `taken` is the
     * number of texts that its last poll claimed.
     */
    async next(taken: number, ms: number): Promise<boolean> {
      return isDue || (taken > 0 && isLeft) || sleep.untilWoken(ms);
    },
    /** Whether the caller, whose turn has come, should poll. Waits for a poll that is under way. */
    async isWanted(): Promise<boolean> {
      while (underWay !== undefined) await underWay;
      return isDue || isLeft;
    },
    /**
     * Begins a poll; the returned function ends it. After a poll that does not read the whole queue (`whole` is false), the
     * loop that finishes a batch polls again.
     */
    begin(whole: boolean): () => void {
      isDue = false;
      isLeft = !whole;
      let finish = () => {};
      const poll = new Promise<void>((resolve) => {
        finish = resolve;
      });
      underWay = poll;
      return () => {
        if (underWay === poll) underWay = undefined;
        finish();
      };
    },
  };
}
