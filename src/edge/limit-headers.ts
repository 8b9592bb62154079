import { minuteMs } from './block.ts';
import type { Decision, Limits } from './sliding-window.ts';

/**
 * Writes the limit headers of a decision, and Retry-After on a refusal. (`portal/throttled.ts` writes those of password
 * limits.)
 */
export function limitLines(decision: Decision): string {
  if (!decision.admitted || decision.nextFreeMs > 0 || decision.resetMs !== minuteMs) return linesOf(decision);
  // The usual case: only `remaining` varies, so the lines are cached by that number.
  const { usual } = fixedLines(decision.limits);
  let lines = usual[decision.remaining];
  if (lines === undefined) {
    lines = linesOf(decision);
    if (decision.remaining < mostUsual) usual[decision.remaining] = lines;
  }
  return lines;
}

function linesOf(decision: Decision): string {
  const { remaining } = decision;
  const nextFree = wholeSeconds(decision.nextFreeMs);
  const lines = `${fixedLines(decision.limits).start}RateLimit-Remaining: ${remaining}\r\nRateLimit-Reset: ${wholeSeconds(decision.resetMs)}\r\nRateLimit: "minute";r=${remaining};t=${nextFree}\r\n`;
  // A refused request's next free slot is the end of its block. A peek refuses nothing, so a 401 has no Retry-After.
  return decision.retryAfterMs > 0 ? `${lines}Retry-After: ${nextFree}\r\n` : lines;
}

/** The `message` of a 429, the only field of its body. */
export function refusalMessage(decision: Decision): string {
  const { limits, refusedBy } = decision;
  const control =
    refusedBy === 'burst'
      ? `Burst protection: at most ${counted(limits.burst, 'request')} in any second`
      : `Per-minute quota: at most ${counted(limits.perMinute, 'request')} in any 60 seconds`;
  const wait = counted(wholeSeconds(decision.retryAfterMs), 'second');
  return `${control}. Try again in ${wait}; retrying sooner keeps you rejected longer.`;
}

/** Rounds up, so that a caller who waits this long is admitted; at least 1 on every refusal. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

interface FixedLines {
  /** The lines that state the plan's limits. */
  start: string;
  /** All lines of the usual case, indexed by `remaining`. */
  usual: string[];
}

const mostUsual = 10_000;

/** All callers of a plan share one limits object, so the lines that depend only on it are written once. */
const fixed = new WeakMap<Limits, FixedLines>();
// Consecutive requests are mostly of the same plan.
let lastLimits: Limits | undefined;
let lastLines: FixedLines = { start: '', usual: [] };

function fixedLines(limits: Limits): FixedLines {
  if (limits === lastLimits) return lastLines;
  let lines = fixed.get(limits);
  if (lines === undefined) {
    const { perMinute, burst } = limits;
    const start = `RateLimit-Limit: ${perMinute}\r\nRateLimit-Policy: "minute";q=${perMinute};w=60, "burst";q=${burst};w=1\r\n`;
    lines = { start, usual: [] };
    fixed.set(limits, lines);
  }
  lastLimits = limits;
  lastLines = lines;
  return lines;
}
