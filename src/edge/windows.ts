import type { LimitDecision, Limits } from '../http/admission.ts';

/** `informedAtMs` of a caller that sees no `Retry-After`, as by SMPP: its retries never extend a lockout. */
export const neverInformed = Number.NaN;

/**
 * The rate windows of all callers, in this process or in Redis. Redis windows batch the requests of one event-loop turn
 * behind this interface. In-process windows return the decision itself, because a promise per request would cost more
 * than the decision: await only a promise.
 */
export interface Windows {
  /**
   * Decides a request and charges it if admitted. `informedAtMs` (steady clock) is when the connection opened or last
   * finished a response: only a caller that can know of its lockout is punished.
   */
  decide(key: string, limits: Limits, informedAtMs: number): LimitDecision | Promise<LimitDecision>;
  /** The caller's state. Charges nothing, extends no lockout and stores nothing. */
  peek(key: string, limits: Limits): LimitDecision | Promise<LimitDecision>;
  /**
   * Takes back the charge of an admitted request that was not served, and returns the caller's state. An open lockout ends
   * earlier by the time that this gains. Never fails.
   */
  giveBack(key: string, decision: LimitDecision): LimitDecision | Promise<LimitDecision>;
}

/** Windows of this process only. */
export interface LocalWindows extends Windows {
  decide(key: string, limits: Limits, informedAtMs: number): LimitDecision;
  peek(key: string, limits: Limits): LimitDecision;
  giveBack(key: string, decision: LimitDecision): LimitDecision;
  /** How many callers have a window, for metrics. */
  readonly size: number;
}
