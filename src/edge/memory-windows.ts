import type { Clock } from '../platform/clock.ts';
import { createSlidingWindow, decide, exactMs, isIdle, peek, type SlidingWindow } from './sliding-window.ts';
import type { LocalWindows } from './windows.ts';

/** The exact windows of all registrations. Forgets those that are idle and no other. */
export function createMemoryWindows({ clock }: { clock: Clock }): LocalWindows {
  const windows = new Map<string, SlidingWindow>();
  const unseen = createSlidingWindow();
  // A map's iterator goes on through additions and deletions, so one that is kept is a sweep without a list or a timer.
  let sweep = windows.entries();

  function forgetIdle(looks: number, nowMs: number): void {
    for (let look = 0; look < looks; look++) {
      const next = sweep.next();
      if (next.done) {
        sweep = windows.entries();
        return;
      }
      const [key, window] = next.value;
      if (isIdle(window, nowMs)) windows.delete(key);
    }
  }

  return {
    get size() {
      return windows.size;
    },
    decide(key, limits) {
      const nowMs = exactMs(clock.steadyMs());
      let window = windows.get(key);
      const added = window === undefined;
      if (window === undefined) {
        window = createSlidingWindow();
        windows.set(key, window);
      }
      const decision = decide(window, limits, nowMs);
      // Only now, when this window is surely not idle. Two looks for each one added: the sweep always comes round.
      forgetIdle(added ? 2 : 1, nowMs);
      return decision;
    },
    peek: (key, limits) => peek(windows.get(key) ?? unseen, limits, exactMs(clock.steadyMs())),
  };
}
