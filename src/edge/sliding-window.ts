import type { LimitDecision, Limits } from '../http/admission.ts';
import { burstMs } from '../http/admission.ts';
import { minuteMs } from '../platform/clock.ts';
import {
  type AdmittedTimes,
  addTime,
  clearTimes,
  forgetOlder,
  nthNewest,
  removeTime,
  shiftTimes,
} from './admitted-times.ts';
import { endLockoutEarlier, extendLockout, type Lockout, openLockout, shiftLockout } from './lockout.ts';

/** The exact windows of one caller. One history serves both: the nth newest admission decides a limit of n. */
export interface SlidingWindow extends AdmittedTimes {
  /** Time of the latest call. */
  seenMs: number;
  /** Limits of the last decision. Different limits mean a plan change. */
  limits: Limits | undefined;
  lockout: Lockout | undefined;
}

export function createSlidingWindow(): SlidingWindow {
  return {
    times: [],
    newest: -1,
    count: 0,
    seenMs: Number.NEGATIVE_INFINITY,
    limits: undefined,
    lockout: undefined,
  };
}

/** Resets a window for another caller. In a flood this avoids most garbage collection. */
export function renew(window: SlidingWindow): void {
  clearTimes(window);
  window.seenMs = Number.NEGATIVE_INFINITY;
  window.limits = undefined;
  window.lockout = undefined;
}

/**
 * Reads the steady clock in 1/1024 ms. Such values add and subtract without rounding, so a slot is free at exactly t +
 * window, and a caller that waits exactly `retryAfterMs` is admitted.
 */
export function exactMs(steadyMs: number): number {
  return Math.floor(steadyMs * 1024) / 1024;
}

/**
 * Decides and charges both windows together; a refusal charges neither. `quietMs` is the time since the connection
 * opened or finished a response, measured at the request's first byte.
 */
export function decide(window: SlidingWindow, limits: Limits, nowMs: number, quietMs: number): LimitDecision {
  settle(window, nowMs);
  if (!isSame(window.limits, limits)) window.lockout = undefined;
  window.limits = limits;

  if (window.lockout !== undefined && nowMs < window.lockout.endMs) {
    extendLockout(window.lockout, nowMs, quietMs);
    return refusal(window, window.lockout, limits, nowMs);
  }
  const minuteFreeMs = freeAtMs(window, limits.perMinute, minuteMs);
  const burstFreeMs = freeAtMs(window, limits.burst, burstMs);
  if (minuteFreeMs > nowMs || burstFreeMs > nowMs) {
    window.lockout = openLockout(minuteFreeMs, burstFreeMs, nowMs);
    return refusal(window, window.lockout, limits, nowMs);
  }
  window.lockout = undefined;
  addTime(window, limits.perMinute, nowMs);
  return {
    admitted: true,
    limits,
    remaining: limits.perMinute - window.count,
    resetMs: minuteMs,
    nextFreeMs: untilFreeMs(window, limits, nowMs),
    retryAfterMs: 0,
    refusedBy: undefined,
    chargedAtMs: nowMs,
  };
}

/** Takes an admission back that was not served, and returns the caller's state. One that no longer counts changes nothing. */
export function giveBack(window: SlidingWindow, given: LimitDecision, nowMs: number): LimitDecision {
  settle(window, nowMs);
  const { limits = given.limits, lockout } = window;
  const removed = given.chargedAtMs !== undefined && removeTime(window, given.chargedAtMs);
  if (removed && lockout !== undefined) {
    const freeMs = Math.max(freeAtMs(window, limits.perMinute, minuteMs), freeAtMs(window, limits.burst, burstMs));
    endLockoutEarlier(lockout, Math.max(freeMs, nowMs));
  }
  return { ...peek(window, limits, nowMs), limits: given.limits };
}

/** The caller's state, for a response to an uncounted request. Charges nothing and extends no lockout. */
export function peek(window: SlidingWindow, limits: Limits, nowMs: number): LimitDecision {
  settle(window, nowMs);
  const lockoutEndMs = isSame(window.limits, limits) && window.lockout !== undefined ? window.lockout.endMs : nowMs;
  const nextFreeMs = Math.max(untilFreeMs(window, limits, nowMs), Math.ceil(lockoutEndMs - nowMs), 0);
  return {
    admitted: nextFreeMs === 0,
    limits,
    remaining: nextFreeMs === 0 ? limits.perMinute - window.count : 0,
    resetMs: Math.max(untilWholeMs(window, nowMs), nextFreeMs),
    nextFreeMs,
    retryAfterMs: 0,
    refusedBy: undefined,
    chargedAtMs: undefined,
  };
}

/** True without admissions in the last minute and without a lockout: a new window would decide the same. */
export function isIdle(window: SlidingWindow, nowMs: number): boolean {
  settle(window, nowMs);
  return window.count === 0 && (window.lockout === undefined || window.lockout.endMs <= nowMs);
}

/**
 * Brings the history up to now. If the clock went back, the history moves back with it: every count stays, and no
 * caller waits for the clock to catch up.
 */
function settle(window: SlidingWindow, nowMs: number): void {
  if (nowMs < window.seenMs) {
    shiftTimes(window, window.seenMs - nowMs);
    if (window.lockout !== undefined) shiftLockout(window.lockout, window.seenMs - nowMs);
  }
  window.seenMs = nowMs;
  forgetOlder(window, minuteMs, nowMs);
}

/** When this window next has a free slot; minus infinity if it has one. Call `settle` first. */
function freeAtMs(window: SlidingWindow, limit: number, windowMs: number): number {
  return window.count < limit ? Number.NEGATIVE_INFINITY : nthNewest(window, limit) + windowMs;
}

function untilFreeMs(window: SlidingWindow, limits: Limits, nowMs: number): number {
  const freeMs = Math.max(freeAtMs(window, limits.perMinute, minuteMs), freeAtMs(window, limits.burst, burstMs));
  return freeMs > nowMs ? Math.ceil(freeMs - nowMs) : 0;
}

function untilWholeMs(window: SlidingWindow, nowMs: number): number {
  return window.count === 0 ? 0 : Math.ceil(nthNewest(window, 1) + minuteMs - nowMs);
}

function refusal(window: SlidingWindow, lockout: Lockout, limits: Limits, nowMs: number): LimitDecision {
  const retryAfterMs = Math.ceil(lockout.endMs - nowMs);
  return {
    admitted: false,
    limits,
    remaining: 0,
    resetMs: Math.max(untilWholeMs(window, nowMs), retryAfterMs),
    nextFreeMs: retryAfterMs,
    retryAfterMs,
    refusedBy: lockout.control,
    chargedAtMs: undefined,
  };
}

/** Compares the numbers: the registry may create a new object for the same plan. */
function isSame(before: Limits | undefined, now: Limits): boolean {
  return before === now || (before !== undefined && before.perMinute === now.perMinute && before.burst === now.burst);
}
