import { createCarrierDirectory } from '../delivery/carrier-directory.ts';
import { createCarrierLogService } from '../delivery/carrier-log-service.ts';
import { createCarrierService } from '../delivery/carrier-service.ts';
import { createCarrierTestService } from '../delivery/carrier-test-service.ts';
import { routeIn, sandboxCarrier } from '../delivery/environment-routes.ts';
import { unavailable } from '../platform/errors.ts';
import { composeAlerts } from './alerts.ts';
import type { Foundation } from './foundation.ts';

export type Carriers = ReturnType<typeof composeCarriers>;

/** Codes are not started once every carrier has been down for this long: they would expire in a queue. */
const codesWaitMs = 30_000;

/** Builds what web nodes know of carriers: the operators' API, and the choice of a carrier for each text. */
export function composeCarriers(foundation: Foundation) {
  const { config, clock, sideDatabase: database, keys, log, metrics } = foundation;
  const { environment } = config;
  const directory = createCarrierDirectory({ database, clock, log });
  const alerts = composeAlerts(foundation);
  metrics.gauges('heliograph_carrier_binds', 'Connections of carriers by state', ['carrier', 'state'], () => {
    const counts = new Map<string, number>();
    for (const { name, binds } of directory.list()) {
      for (const { state } of binds) counts.set(`${name} ${state}`, (counts.get(`${name} ${state}`) ?? 0) + 1);
    }
    return [...counts].map(([labels, value]) => ({ labels: labels.split(' '), value }));
  });

  const candidatesFor = (to: string): string[] => {
    const facts = { messageId: null, to, country: undefined, from: '', api: 'sms', applicationId: '' } as const;
    const about = { urgent: true, isCode: false, senderCarriers: null, used: [], nowMs: clock.nowMs() };
    const decision = routeIn(environment, { ...facts, ...about }, directory.table(), directory.list());
    return decision.outcome === 'routed' ? decision.candidates.map(({ key }) => key) : [];
  };

  return {
    directory,
    alerts,
    async start(): Promise<void> {
      await directory.start();
      alerts.start();
    },
    async stop(): Promise<void> {
      await directory.stop();
      await alerts.stop();
    },
    carrierFor: (to: string): string | undefined => candidatesFor(to)[0],
    carrierForCode(to: string): string | undefined {
      const keys = candidatesFor(to);
      if (keys[0] !== sandboxCarrier && keys.length > 0 && directory.areDownFor(keys, codesWaitMs))
        throw unavailable('No carrier can send texts at the moment. Try again shortly.', 30);
      return keys[0];
    },
    routes: {
      carriers: createCarrierService({ database, clock, keys, environment }),
      tests: createCarrierTestService({ database, clock }),
      logs: createCarrierLogService({ database, clock }),
      environment,
    },
  };
}
