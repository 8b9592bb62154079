import { burstMs, type Control } from '../http/admission.ts';
import { minuteMs } from '../platform/clock.ts';

/** Each early retry moves the end by this much, at most once per `graceMs`. */
const penaltyMs = 1_000;
/** A request this long after the lockout opened can know of it, even on another connection. */
export const graceMs = 250;

/** The time during which a caller is refused. Early retries extend it, up to `latestEndMs`. */
export interface Lockout {
  /** The control that set the original end. Every refusal of this lockout names it. */
  readonly control: Control;
  openedAtMs: number;
  endMs: number;
  latestEndMs: number;
  /** The end does not move again before this time. */
  nextMoveMs: number;
}

/** Opens a lockout that ends when both windows have a free slot. If both free up together, the minute is named. */
export function openLockout(minuteFreeMs: number, burstFreeMs: number, nowMs: number): Lockout {
  const byMinute = minuteFreeMs >= burstFreeMs;
  const endMs = byMinute ? minuteFreeMs : burstFreeMs;
  return {
    control: byMinute ? 'minute' : 'burst',
    openedAtMs: nowMs,
    endMs,
    latestEndMs: endMs + (byMinute ? minuteMs : burstMs),
    nextMoveMs: nowMs,
  };
}

/**
 * Handles a request before the end. Its connection opened or finished a response `quietMs` ago: a request sent before
 * the lockout opened cannot know of it, and is refused without a penalty. Nor is a caller that sees no `Retry-After`.
 */
export function extendLockout(lockout: Lockout, nowMs: number, quietMs: number): void {
  if (Number.isNaN(quietMs)) return;
  const canKnow = nowMs - quietMs > lockout.openedAtMs || nowMs >= lockout.openedAtMs + graceMs;
  if (!canKnow || nowMs < lockout.nextMoveMs) return;
  lockout.endMs = Math.min(lockout.endMs + penaltyMs, lockout.latestEndMs);
  lockout.nextMoveMs = nowMs + graceMs;
}

/** Ends a lockout earlier, because a slot was given back. What early retries have added stays. */
export function endLockoutEarlier(lockout: Lockout, freeMs: number): void {
  const naturalEndMs = lockout.latestEndMs - (lockout.control === 'minute' ? minuteMs : burstMs);
  const earlierMs = Math.max(0, naturalEndMs - freeMs);
  lockout.endMs -= earlierMs;
  lockout.latestEndMs -= earlierMs;
}

export function shiftLockout(lockout: Lockout, stepMs: number): void {
  lockout.openedAtMs -= stepMs;
  lockout.endMs -= stepMs;
  lockout.latestEndMs -= stepMs;
  lockout.nextMoveMs -= stepMs;
}
