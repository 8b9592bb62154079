import type { LimitDecision } from '../http/admission.ts';
import { wholeSeconds } from '../http/head.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { ApiError } from '../platform/errors.ts';

/** One refusal per message, reused: creating them took a tenth of the work in a flood. */
const refusals = createBoundedMap<string, ApiError>(1000);

/** The 429 of a decision. */
export function limitRefusal(decision: LimitDecision): ApiError {
  const message = messageOf(decision);
  let refusal = refusals.get(message);
  if (refusal === undefined) {
    refusal = new ApiError('RATE_LIMITED', message);
    refusals.set(message, refusal);
  }
  return refusal;
}

/** The `message` of a 429, the only field of its body. */
function messageOf(decision: LimitDecision): string {
  const { limits, refusedBy } = decision;
  const control =
    refusedBy === 'burst'
      ? `Burst protection: at most ${counted(limits.burst, 'request')} in any second`
      : `Per-minute quota: at most ${counted(limits.perMinute, 'request')} in any 60 seconds`;
  const wait = counted(wholeSeconds(decision.retryAfterMs), 'second');
  return `${control}. Try again in ${wait}; retrying sooner keeps you rejected longer.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
