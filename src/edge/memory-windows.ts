import type { Clock } from '../platform/clock.ts';
import {
  createSlidingWindow,
  type Decision,
  decide,
  exactMs,
  isIdle,
  type Limits,
  peek,
  type SlidingWindow,
} from './sliding-window.ts';
import type { LocalWindows, OwnWindow, RegistrationWindows } from './windows.ts';

/** Sweep one window every N decisions, to find idle ones: a sweep reads a window that this request does not need. */
const lookEvery = 8;

class OwnMemoryWindow implements OwnWindow {
  readonly #key: string;
  readonly #find: (key: string) => SlidingWindow;
  readonly #decideIn: (window: SlidingWindow, limits: Limits, informedAtMs: number) => Decision;
  #window: SlidingWindow | undefined;

  constructor(
    key: string,
    find: (key: string) => SlidingWindow,
    decideIn: (window: SlidingWindow, limits: Limits, informedAtMs: number) => Decision,
  ) {
    this.#key = key;
    this.#find = find;
    this.#decideIn = decideIn;
  }

  decide(limits: Limits, informedAtMs: number): Decision {
    let window = this.#window;
    if (window === undefined || window.forgotten) {
      window = this.#find(this.#key);
      this.#window = window;
    }
    return this.#decideIn(window, limits, informedAtMs);
  }
}

/** The exact windows of all registrations. Only idle windows are dropped. */
export function createMemoryWindows({ clock }: { clock: Clock }): LocalWindows & RegistrationWindows {
  const windows = new Map<string, SlidingWindow>();
  const unseen = createSlidingWindow();
  // A map's iterator survives additions and deletions, so one kept iterator sweeps without a list or a timer.
  let sweep = windows.entries();
  let turn = 0;

  function forgetIdle(looks: number, nowMs: number): void {
    for (let look = 0; look < looks; look++) {
      const next = sweep.next();
      if (next.done) {
        sweep = windows.entries();
        return;
      }
      const [key, window] = next.value;
      if (!isIdle(window, nowMs)) continue;
      windows.delete(key);
      window.forgotten = true;
    }
  }

  function find(key: string): SlidingWindow {
    let window = windows.get(key);
    if (window === undefined) {
      window = createSlidingWindow();
      windows.set(key, window);
      // Sweep two windows for each one added, so that the sweep always completes.
      turn += 2 * lookEvery;
    }
    return window;
  }

  function decideIn(window: SlidingWindow, limits: Limits, informedAtMs: number): Decision {
    const nowMs = exactMs(clock.steadyMs());
    const decision = decide(window, limits, nowMs, nowMs - exactMs(informedAtMs));
    // Sweep after the decision, when this window cannot be idle.
    turn++;
    if (turn >= lookEvery) {
      forgetIdle(Math.floor(turn / lookEvery), nowMs);
      turn = 0;
    }
    return decision;
  }

  return {
    get size() {
      return windows.size;
    },
    of: (key) => new OwnMemoryWindow(key, find, decideIn),
    decide: (key, limits, informedAtMs) => decideIn(find(key), limits, informedAtMs),
    peek: (key, limits) => peek(windows.get(key) ?? unseen, limits, exactMs(clock.steadyMs())),
  };
}
