import { createTextRoutes, type KnownWays } from '../../delivery/routing/text-routes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Config } from '../../settings/settings.ts';
import { createFallbackWorker } from '../../verify/fallback/worker.ts';
import { createGuard } from '../../verify/guard.ts';
import { createKnownGuard } from '../../verify/guard-rules/known.ts';
import { createStartBatch } from '../../verify/start/batch.ts';

/** Builds the worker that takes the steps of verifications, where carriers run: their state is known there. */
export function createFallbackWork(options: {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  ways: () => KnownWays;
  /** The queues of these carriers have a new text. */
  onSent: (carriers: readonly string[]) => void;
  isClockRight?: (() => boolean) | undefined;
}) {
  const { config, database, clock, keys, log, ways, onSent, isClockRight } = options;
  const { environment, resendSeconds } = config;
  const directory: KnownWays = {
    list: () => ways().list(),
    table: () => ways().table(),
    areDownFor: (keys, ms) => ways().areDownFor(keys, ms),
  };
  const { routeText, hasChoice } = createTextRoutes({ directory, clock, environment });
  const guard = createGuard(config.guard, environment);
  // Steps are few, so each batch of them reads the rules that are set now.
  const set = createKnownGuard({ database, settings: config.guard, environment, isTrusted: () => false });
  const starts = createStartBatch(database, {
    ...{ clock, keys, guard, environment, resendSeconds, routeText, hasChoice },
    currentGuard: set.current,
  });
  return createFallbackWorker({
    ...{ database, clock, log, starts },
    wake: (carriers) => onSent([...(carriers ?? [])]),
    mayRun: isClockRight,
  });
}
