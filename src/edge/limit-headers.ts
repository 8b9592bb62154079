import type { Decision, Limits } from './sliding-window.ts';

/** What a response says of the limits, and on a 429 when to come back. This is the one place that writes it. */
export function limitHeaders(decision: Decision): Record<string, string> {
  const { remaining } = decision;
  const { limit, policy } = fixedText(decision.limits);
  const nextFree = wholeSeconds(decision.nextFreeMs);
  const headers: Record<string, string> = {
    'RateLimit-Limit': limit,
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(wholeSeconds(decision.resetMs)),
    'RateLimit-Policy': policy,
    RateLimit: `"minute";r=${remaining};t=${nextFree}`,
  };
  // A refused request's next free slot is the end of its block. A peek refuses none, so a 401 has no Retry-After.
  if (decision.retryAfterMs > 0) headers['Retry-After'] = String(nextFree);
  return headers;
}

/** The `message` of a 429, its only field. */
export function refusalMessage(decision: Decision): string {
  const { limits, refusedBy } = decision;
  const control =
    refusedBy === 'burst'
      ? `Burst protection: at most ${counted(limits.burst, 'request')} in any second`
      : `Per-minute quota: at most ${counted(limits.perMinute, 'request')} in any 60 seconds`;
  const wait = counted(wholeSeconds(decision.retryAfterMs), 'second');
  return `${control}. Try again in ${wait}; retrying sooner keeps you rejected longer.`;
}

/** Rounded up, so that whoever waits this long is admitted, and so at least 1 on every refusal. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

interface FixedText {
  limit: string;
  policy: string;
}

/** A plan's limits are one object for all its callers, so what depends on nothing else is written once. */
const fixedTexts = new WeakMap<Limits, FixedText>();

function fixedText(limits: Limits): FixedText {
  let text = fixedTexts.get(limits);
  if (text === undefined) {
    const { perMinute, burst } = limits;
    text = { limit: String(perMinute), policy: `"minute";q=${perMinute};w=60, "burst";q=${burst};w=1` };
    fixedTexts.set(limits, text);
  }
  return text;
}
