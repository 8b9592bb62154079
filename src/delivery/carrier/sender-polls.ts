import type { Clock } from '../../platform/clock.ts';
import type { Capacity } from './carrier.ts';

/** Returns a function that calls `onRoom` when there is room again after there was none. */
export function createRoomWatch(capacity: () => Capacity, onRoom: () => void): () => void {
  let wasFull = true;
  return () => {
    const { first, bulk } = capacity();
    const isFull = first === 0 && bulk === 0;
    if (wasFull && !isFull) onRoom();
    wasFull = isFull;
  };
}

export interface NextLookOptions {
  clock: Clock;
  /** Something waits for the next look. */
  isWanted: () => boolean;
  /** When the rate allows the next text, on the steady clock. */
  nextMs: () => number;
  look: () => void;
}

/** A sender's next look at what waits. */
export interface NextLook {
  /** Sets the timer, if something waits and it is not set yet. */
  plan(): void;
  cancel(): void;
}

/** Also finds what has waited for too long, so it comes at least this often. */
const lookEveryMs = 250;

export function createNextLook({ clock, isWanted, nextMs, look }: NextLookOptions): NextLook {
  let timer: NodeJS.Timeout | undefined;
  return {
    plan() {
      if (timer !== undefined || !isWanted()) return;
      const inMs = Math.min(lookEveryMs, Math.max(1, nextMs() - clock.steadyMs()));
      timer = setTimeout(() => {
        timer = undefined;
        look();
      }, inMs);
    },
    cancel: () => clearTimeout(timer),
  };
}
