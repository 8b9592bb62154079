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

/** When nobody new comes, one is looked at in so many decisions: each look is at a window that nobody has asked for. */
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

/** The exact windows of all registrations. Forgets those that are idle and no other. */
export function createMemoryWindows({ clock }: { clock: Clock }): LocalWindows & RegistrationWindows {
  const windows = new Map<string, SlidingWindow>();
  const unseen = createSlidingWindow();
  // A map's iterator goes on through additions and deletions, so one that is kept is a sweep without a list or a timer.
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
      // Two looks are owed for each one added: so the sweep always comes round.
      turn += 2 * lookEvery;
    }
    return window;
  }

  function decideIn(window: SlidingWindow, limits: Limits, informedAtMs: number): Decision {
    const nowMs = exactMs(clock.steadyMs());
    const decision = decide(window, limits, nowMs, nowMs - exactMs(informedAtMs));
    // Only now, when this window is surely not idle.
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
