import type { Limits } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import { createMemoryWindows } from './memory-windows.ts';
import type { LocalWindows } from './windows.ts';

/** Grants this node's share of the limits while Redis is away. */
export interface ShareWindows extends LocalWindows {
  /** How many requests these windows have decided. */
  readonly decisions: number;
}

export interface ShareWindowsOptions {
  clock: Clock;
  /** Nodes that answer requests now, this one included. */
  liveNodes: () => number;
}

export function createShareWindows({ clock, liveNodes }: ShareWindowsOptions): ShareWindows {
  const windows = createMemoryWindows({ clock });
  let decisions = 0;

  function shareOf({ perMinute, burst }: Limits): Limits {
    const nodes = Math.max(1, liveNodes());
    return { perMinute: Math.ceil(perMinute / nodes), burst: Math.ceil(burst / nodes) };
  }

  // Headers keep showing the plan's limits; `remaining` is what this node would still grant.
  return {
    get size() {
      return windows.size;
    },
    get decisions() {
      return decisions;
    },
    decide(key, limits, informedAtMs) {
      decisions++;
      return { ...windows.decide(key, shareOf(limits), informedAtMs), limits };
    },
    peek: (key, limits) => ({ ...windows.peek(key, shareOf(limits)), limits }),
    giveBack: windows.giveBack,
  };
}
