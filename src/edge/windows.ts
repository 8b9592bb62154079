import type { Decision, Limits } from './sliding-window.ts';

/**
 * The rate windows of all callers, in this process or in Redis. Redis windows batch the requests of one event-loop turn
 * behind this interface. In-process windows return the decision itself, because a promise per request would cost more
 * than the decision: await only a promise.
 */
export interface Windows {
  /**
   * Decides a request and charges it if admitted. `informedAtMs` (steady clock) is when the connection opened or last
   * finished a response: only a caller that can know of its block is punished.
   */
  decide(key: string, limits: Limits, informedAtMs: number): Decision | Promise<Decision>;
  /** The caller's state. Charges nothing, extends no block and stores nothing. */
  peek(key: string, limits: Limits): Decision | Promise<Decision>;
}

/** The window of one caller, looked up once and used for many requests. */
export interface OwnWindow {
  decide(limits: Limits, informedAtMs: number): Decision | Promise<Decision>;
}

/** Windows that also hand out one caller's window to keep. */
export interface RegistrationWindows extends Windows {
  of(key: string): OwnWindow;
}

/** Windows of this process only. */
export interface LocalWindows extends Windows {
  decide(key: string, limits: Limits, informedAtMs: number): Decision;
  peek(key: string, limits: Limits): Decision;
  /** How many callers have a window, for metrics. */
  readonly size: number;
}
