import type { WakeableSleep } from '../platform/wakeable-sleep.ts';

/**
 * Which of a worker's loops looks at the queue next. A wake is one look, whoever makes it; a look that finds texts leads to
 * the next one, because there may be more.
 */
export interface QueueLooks {
  /** There may be texts. */
  wake(): void;
  /** The caller looks now. If not at all texts (`whole` is false), the one who finishes a batch has to look again. */
  begin(whole: boolean): void;
  /**
   * Resolves when the caller should look: at once, when it is woken (true), or after `ms` (false). `taken` is what its
   * last look has taken.
   */
  next(taken: number, ms: number): Promise<boolean>;
  /** The caller looks soon, whether it is woken or not. */
  come(): void;
}

export function createQueueLooks(sleep: Pick<WakeableSleep, 'untilWoken' | 'wakeOne'>): QueueLooks {
  /** There was a wake since the last look began. */
  let due = false;
  /** The last look saw a part of the queue. */
  let isLeft = false;
  /** Loops that are about to look: they wait for their turn. */
  let coming = 0;

  return {
    wake() {
      due = true;
      if (coming === 0 && sleep.wakeOne()) coming++;
    },
    begin(whole) {
      coming--;
      due = false;
      isLeft = !whole;
    },
    async next(taken, ms) {
      const isWanted = coming === 0 && (due || (taken > 0 && isLeft));
      if (!isWanted && (await sleep.untilWoken(ms))) return true;
      coming++;
      return isWanted;
    },
    come() {
      coming++;
    },
  };
}
