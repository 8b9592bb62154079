import { dayMs } from '../platform/clock.ts';

/** Attempts of one endpoint at once. */
export const mostAtOnce = 20;
const firstAtOnce = 4;

/** How an endpoint has done so far. The store keeps it between two claims. */
export interface Health {
  /** Attempts that have failed since the last success. */
  failures: number;
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
  /** No new event is tried before. */
  restsUntilMs: number | null;
}

/** An endpoint without a success for so long is disabled. */
export const hopelessAfterMs = 5 * dayMs;

/** After so many failures in a row, new events wait for a success, or are tried one by one with growing pauses. */
const triedFreely = 10;
const rest = { fromMs: 1000, toMs: 30_000 };

export function afterSuccess(_: Health, nowMs: number): Health {
  return { failures: 0, failingSinceMs: null, lastSuccessAtMs: nowMs, restsUntilMs: null };
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

/** How many attempts may be under way at once, when an endpoint is taken up. */
export function atOnceFirst({ failures }: Pick<Health, 'failures'>): number {
  return failures === 0 ? firstAtOnce : 1;
}

export function atOnceAfter(atOnce: number, succeeded: boolean): number {
  return succeeded ? Math.min(mostAtOnce, atOnce + 1) : Math.max(1, Math.floor(atOnce / 2));
}
