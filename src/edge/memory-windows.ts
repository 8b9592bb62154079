import type { LimitDecision, Limits } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import { createSlidingWindow, decide, exactMs, giveBack, isIdle, peek, type SlidingWindow } from './sliding-window.ts';
import type { LocalWindows } from './windows.ts';

/** Sweep one window every N decisions, to find idle ones: a sweep reads a window that this request does not need. */
const sweepEvery = 8;

/** The exact windows of all registrations. Only idle windows are dropped. */
export function createMemoryWindows({ clock }: { clock: Clock }): LocalWindows {
  const windows = new Map<string, SlidingWindow>();
  const unseen = createSlidingWindow();
  // A map's iterator survives additions and deletions, so one kept iterator sweeps without a list or a timer.
  let sweep = windows.entries();
  let turn = 0;

  function forgetIdle(count: number, nowMs: number): void {
    for (let swept = 0; swept < count; swept++) {
      const next = sweep.next();
      if (next.done) {
        sweep = windows.entries();
        return;
      }
      const [key, window] = next.value;
      if (isIdle(window, nowMs)) windows.delete(key);
    }
  }

  function find(key: string): SlidingWindow {
    let window = windows.get(key);
    if (window === undefined) {
      window = createSlidingWindow();
      windows.set(key, window);
      // Sweep two windows for each one added, so that the sweep always completes.
      turn += 2 * sweepEvery;
    }
    return window;
  }

  function decideFor(key: string, limits: Limits, informedAtMs: number): LimitDecision {
    const nowMs = exactMs(clock.steadyMs());
    const decision = decide(find(key), limits, nowMs, nowMs - exactMs(informedAtMs));
    // Sweep after the decision, when this window cannot be idle.
    turn++;
    if (turn >= sweepEvery) {
      forgetIdle(Math.floor(turn / sweepEvery), nowMs);
      turn = 0;
    }
    return decision;
  }

  return {
    get size() {
      return windows.size;
    },
    decide: decideFor,
    peek: (key, limits) => peek(windows.get(key) ?? unseen, limits, exactMs(clock.steadyMs())),
    giveBack: (key, decision) => giveBack(windows.get(key) ?? unseen, decision, exactMs(clock.steadyMs())),
  };
}
