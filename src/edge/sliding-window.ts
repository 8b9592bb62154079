import { type AdmittedTimes, addTime, clearTimes, forgetOlder, nthNewest, shiftTimes } from './admitted-times.ts';
import { type Block, burstMs, type Control, minuteMs, moveEnd, openBlock, shiftBlock } from './block.ts';

/** Whole numbers of at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly burst: number;
}

/**
 * What the limits say to one request. Every limit header and the text of a 429 are made from it. Times are whole
 * milliseconds, rounded up: waiting them out is always enough.
 */
export interface Decision {
  readonly admitted: boolean;
  readonly limits: Limits;
  /** Of the minute window, with this request counted; 0 on a refusal, whichever control refused. */
  readonly remaining: number;
  /** Until the minute's quota is whole again, if nothing more is sent. */
  readonly resetMs: number;
  /** Until a further request would be admitted: both windows, and the block if there is one. */
  readonly nextFreeMs: number;
  /** Until the end of the block, and so the same as `nextFreeMs`; 0 unless a request was refused. */
  readonly retryAfterMs: number;
  readonly refusedBy: Control | undefined;
}

/** The exact windows of one caller. One history serves both: the nth newest admission decides a limit of n. */
export interface SlidingWindow extends AdmittedTimes {
  /** The latest time it was asked at. */
  seenMs: number;
  /** What the last decision went by. Other limits are a plan change. */
  limits: Limits | undefined;
  block: Block | undefined;
  /** Whoever still holds it has to find the one that is kept in its place. */
  forgotten: boolean;
}

export function createSlidingWindow(): SlidingWindow {
  return {
    times: [],
    newest: -1,
    count: 0,
    seenMs: Number.NEGATIVE_INFINITY,
    limits: undefined,
    block: undefined,
    forgotten: false,
  };
}

/** Makes a window as good as new for another caller: in a flood this spares the collector most of its work. */
export function renew(window: SlidingWindow): void {
  clearTimes(window);
  window.seenMs = Number.NEGATIVE_INFINITY;
  window.limits = undefined;
  window.block = undefined;
}

/**
 * A reading of the steady clock in 1024ths of a millisecond. These add and subtract without rounding, so a slot is free
 * at exactly t + window and whoever waits exactly `retryAfterMs` is admitted.
 */
export function exactMs(steadyMs: number): number {
  return Math.floor(steadyMs * 1024) / 1024;
}

/**
 * Decides both windows together and charges them together: a refusal charges neither. `quietMs` is how long ago the
 * request's connection was opened or finished an answer, as of the request's first byte.
 */
export function decide(window: SlidingWindow, limits: Limits, nowMs: number, quietMs: number): Decision {
  settle(window, nowMs);
  if (!isSame(window.limits, limits)) window.block = undefined;
  window.limits = limits;

  if (window.block !== undefined && nowMs < window.block.endMs) {
    moveEnd(window.block, nowMs, quietMs);
    return refusal(window, window.block, limits, nowMs);
  }
  const minuteFreeMs = freeAtMs(window, limits.perMinute, minuteMs);
  const burstFreeMs = freeAtMs(window, limits.burst, burstMs);
  if (minuteFreeMs > nowMs || burstFreeMs > nowMs) {
    window.block = openBlock(minuteFreeMs, burstFreeMs, nowMs);
    return refusal(window, window.block, limits, nowMs);
  }
  window.block = undefined;
  addTime(window, limits.perMinute, nowMs);
  return {
    admitted: true,
    limits,
    remaining: limits.perMinute - window.count,
    resetMs: minuteMs,
    nextFreeMs: untilFreeMs(window, limits, nowMs),
    retryAfterMs: 0,
    refusedBy: undefined,
  };
}

/** How the caller stands, for a response to a request that is not counted. Charges nothing and punishes nothing. */
export function peek(window: SlidingWindow, limits: Limits, nowMs: number): Decision {
  settle(window, nowMs);
  const blockEndMs = isSame(window.limits, limits) && window.block !== undefined ? window.block.endMs : nowMs;
  const nextFreeMs = Math.max(untilFreeMs(window, limits, nowMs), Math.ceil(blockEndMs - nowMs), 0);
  return {
    admitted: nextFreeMs === 0,
    limits,
    remaining: nextFreeMs === 0 ? limits.perMinute - window.count : 0,
    resetMs: Math.max(untilWholeMs(window, nowMs), nextFreeMs),
    nextFreeMs,
    retryAfterMs: 0,
    refusedBy: undefined,
  };
}

/** Nothing admitted in the last minute and no block: a new window would decide the same. */
export function isIdle(window: SlidingWindow, nowMs: number): boolean {
  settle(window, nowMs);
  return window.count === 0 && (window.block === undefined || window.block.endMs <= nowMs);
}

/**
 * Brings the history up to now. A clock that went back moves the history back with it: that keeps every count, and
 * nobody is locked out until the clock has caught up with a time that it took back.
 */
function settle(window: SlidingWindow, nowMs: number): void {
  if (nowMs < window.seenMs) {
    shiftTimes(window, window.seenMs - nowMs);
    if (window.block !== undefined) shiftBlock(window.block, window.seenMs - nowMs);
  }
  window.seenMs = nowMs;
  forgetOlder(window, minuteMs, nowMs);
}

/** When this window next has a free slot; long ago when it has one. Needs a settled window. */
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

function refusal(window: SlidingWindow, block: Block, limits: Limits, nowMs: number): Decision {
  const retryAfterMs = Math.ceil(block.endMs - nowMs);
  return {
    admitted: false,
    limits,
    remaining: 0,
    resetMs: Math.max(untilWholeMs(window, nowMs), retryAfterMs),
    nextFreeMs: retryAfterMs,
    retryAfterMs,
    refusedBy: block.control,
  };
}

/** By their numbers: the registry may make a new object for the same plan. */
function isSame(before: Limits | undefined, now: Limits): boolean {
  return before === now || (before !== undefined && before.perMinute === now.perMinute && before.burst === now.burst);
}
