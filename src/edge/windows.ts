import type { Decision, Limits } from './sliding-window.ts';

/**
 * Where the windows of all callers are kept: in this process, or in a store that several nodes share.
 *
 * A shared store answers later, and sends what arrives together in one round trip, which it can do behind this
 * interface because each call stands for itself. The in-process engine answers at once, and its type says so: a promise
 * for each request would cost more than the decision. The edge therefore awaits only what is a promise.
 */
export interface Windows {
  /**
   * Decides a request of this caller and charges it if it is admitted. `informedAtMs` says, by the steady clock, when the
   * request's connection was opened or last finished an answer: only a caller that can know of a block is punished.
   */
  decide(key: string, limits: Limits, informedAtMs: number): Decision | Promise<Decision>;
  /** How this caller stands, without charging, punishing or remembering anything. */
  peek(key: string, limits: Limits): Decision | Promise<Decision>;
}

/** The windows of one caller, for whoever asks again and again: they are found once. */
export interface OwnWindow {
  decide(limits: Limits, informedAtMs: number): Decision | Promise<Decision>;
}

/** Windows that callers are given to keep. */
export interface RegistrationWindows extends Windows {
  of(key: string): OwnWindow;
}

/** Windows of this process alone. The numbers are for metrics. */
export interface LocalWindows extends Windows {
  decide(key: string, limits: Limits, informedAtMs: number): Decision;
  peek(key: string, limits: Limits): Decision;
  /** Callers remembered. */
  readonly size: number;
}
