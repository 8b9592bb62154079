import { createTextRoutes, type KnownWays } from '../../delivery/routing/text-routes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { createDirectory } from '../../registry/directory.ts';
import type { Config } from '../../settings/settings.ts';
import { createExplanations } from '../../verify/explanations.ts';
import { createFallbackWorker } from '../../verify/fallback/worker.ts';
import { createGuard } from '../../verify/guard.ts';
import { createKnownGuard } from '../../verify/guard-rules/known.ts';
import { createRiskAsking } from '../../verify/risk/ask.ts';
import { createStartBatch } from '../../verify/start/batch.ts';
import { composeRisk } from './risk.ts';

/** Builds the worker that moves verifications to other channels. It runs with the carriers: it needs their state. */
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
  // This thread follows no change feed, so it trusts no cache: each batch of steps reads rules and rights.
  const isTrusted = () => false;
  const { current: currentGuard } = createKnownGuard({ database, settings: config.guard, environment, isTrusted });
  const starts = createStartBatch(database, {
    ...{ clock, keys, guard, currentGuard, environment, resendSeconds, routeText, hasChoice },
  });
  const explanations = createExplanations({ database, clock, keys, currentGuard });
  const risk = composeRisk({ config, clock });
  const applications = createDirectory({ database, plans: config.plans, config, feed: () => ({ isTrusted }) });
  const worker = createFallbackWorker({
    ...{ database, clock, log, starts },
    withRisk: createRiskAsking({ environment, ask: risk.ask, explain: explanations.submit }),
    findRights: async (id) => {
      const application = await applications.readApplication(id);
      return application?.registrations.verify && application.rights;
    },
    wake: (carriers) => onSent([...(carriers ?? [])]),
    mayRun: isClockRight,
  });
  return {
    ...worker,
    async stop(): Promise<void> {
      await worker.stop();
      await explanations.drain();
      await risk.drain();
    },
  };
}
