import { dayMs } from '../platform/clock.ts';

/** Maximum concurrent attempts of one endpoint. */
export const mostAtOnce = 20;
const firstAtOnce = 4;

/** The recent results of an endpoint. The store keeps them between two claims. */
export interface Health {
  /** Attempts that have failed since the last success. */
  failures: number;
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
  /** New events wait until then. */
  restsUntilMs: number | null;
  /** Recent time to answer. Null: it was not called yet. */
  latencyMs: number | null;
}

/** `new`: it was not called yet. `slow`: it fails, or takes longer than a second. */
export type Lane = 'new' | 'quick' | 'slow';

/** Half of all claims and calls is reserved for endpoints that answer within this time. */
export const quickWithinMs = 1000;

export function laneOf({ failures, latencyMs }: Pick<Health, 'failures' | 'latencyMs'>): Lane {
  if (failures > 0 || (latencyMs ?? 0) > quickWithinMs) return 'slow';
  return latencyMs === null ? 'new' : 'quick';
}

/** A slow answer counts fully at once. Quick ones lower the value by a quarter each. */
export function latencyAfter(latencyMs: number | null, tookMs: number): number {
  const measured = Math.max(0, Math.round(tookMs));
  if (latencyMs === null || measured >= latencyMs) return measured;
  return latencyMs - Math.ceil((latencyMs - measured) / 4);
}

/** An endpoint without a success for this time is disabled. */
export const hopelessAfterMs = 5 * dayMs;

/** After this many failures in a row, new events wait for a success, or are tried one by one with growing pauses. */
const triedFreely = 10;
const rest = { fromMs: 1000, toMs: 30_000 };

export function afterSuccess({ latencyMs }: Health, nowMs: number): Health {
  return { failures: 0, failingSinceMs: null, lastSuccessAtMs: nowMs, restsUntilMs: null, latencyMs };
}

export function afterFailure(health: Health, nowMs: number): Health {
  const failures = Math.min(health.failures + 1, 1_000_000);
  const over = failures - triedFreely;
  const restMs = over < 0 ? 0 : Math.min(rest.toMs, rest.fromMs * 2 ** Math.min(over, 10));
  return {
    ...health,
    failures,
    failingSinceMs: health.failingSinceMs ?? nowMs,
    restsUntilMs: restMs === 0 ? null : nowMs + restMs,
  };
}

export function isHopeless({ failingSinceMs }: Health, nowMs: number): boolean {
  return failingSinceMs !== null && nowMs - failingSinceMs >= hopelessAfterMs;
}

/** Concurrent attempts at the start of a lease: one until the endpoint was measured. */
export function atOnceFirst(health: Pick<Health, 'failures' | 'latencyMs'>): number {
  return health.failures === 0 && laneOf(health) !== 'new' ? firstAtOnce : 1;
}

export function atOnceAfter(atOnce: number, succeeded: boolean): number {
  return succeeded ? Math.min(mostAtOnce, atOnce + 1) : Math.max(1, Math.floor(atOnce / 2));
}
