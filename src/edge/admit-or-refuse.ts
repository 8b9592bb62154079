import type { Admission, LimitDecision } from '../http/admission.ts';
import type { Caller } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';
import { limitRefusal } from './limit-refusal.ts';

export const anonymous: Caller = { kind: 'anonymous' };

/** `counted`: a registration's limits decided. */
export function admitted(caller: Caller, decision: LimitDecision, counted = false): Admission {
  return { caller, decision, counted, refusal: undefined };
}

export function refused(caller: Caller, decision: LimitDecision, refusal: ApiError, counted = false): Admission {
  return { caller, decision, counted, refusal };
}

/** Refuses with a 429. */
export function limited(caller: Caller, decision: LimitDecision, counted = false): Admission {
  return refused(caller, decision, limitRefusal(decision), counted);
}

/** The caller learns that the database is away, and is not treated as unknown. */
export function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** Continues at once if the decision is no promise: only windows of another process make a request wait. */
export function whenDecided<Result>(
  decision: LimitDecision | Promise<LimitDecision>,
  next: (decision: LimitDecision) => Result | Promise<Result>,
): Result | Promise<Result> {
  return decision instanceof Promise ? decision.then(next) : next(decision);
}
