import { createCarrierDirectory } from '../delivery/carrier-directory.ts';
import { createCarrierLogService } from '../delivery/carrier-log-service.ts';
import { createCarrierService } from '../delivery/carrier-service.ts';
import { createCarrierTestService } from '../delivery/carrier-test-service.ts';
import { testNumberOf } from '../messages/test-numbers.ts';
import { unavailable } from '../platform/errors.ts';
import type { Foundation } from './foundation.ts';

export type Carriers = ReturnType<typeof composeCarriers>;

/** Codes are not started once every carrier has been down for this long: they would expire in a queue. */
const codesWaitMs = 30_000;
/** The carrier of the virtual handsets. */
const sandboxCarrier = 'sandbox';

/** Builds what web nodes know of carriers: the operators' API, and the choice of a carrier for each text. */
export function composeCarriers({ config, clock, sideDatabase: database, keys, log, metrics }: Foundation) {
  const { environment } = config;
  const isSandbox = environment === 'sandbox';
  const directory = createCarrierDirectory({ database, clock, log });
  metrics.gauges('heliograph_carrier_binds', 'Connections of carriers by state', ['carrier', 'state'], () => {
    const counts = new Map<string, number>();
    for (const { name, binds } of directory.list()) {
      for (const { state } of binds) counts.set(`${name} ${state}`, (counts.get(`${name} ${state}`) ?? 0) + 1);
    }
    return [...counts].map(([labels, value]) => ({ labels: labels.split(' '), value }));
  });

  /** Test numbers keep their meaning in the sandbox; other numbers go to a configured carrier if there is one. */
  function carrierFor(to: string): string | undefined {
    if (!isSandbox) return directory.carrierFor(to);
    return testNumberOf(to) === undefined ? (directory.carrierFor(to) ?? sandboxCarrier) : sandboxCarrier;
  }

  return {
    directory,
    carrierFor,
    carrierForCode(to: string): string | undefined {
      const carrier = carrierFor(to);
      if (carrier !== sandboxCarrier && directory.allDownFor(codesWaitMs))
        throw unavailable('No carrier can send texts at the moment. Try again shortly.', 30);
      return carrier;
    },
    routes: {
      carriers: createCarrierService({ database, clock, keys, environment, publicUrl: config.publicUrl }),
      tests: createCarrierTestService({ database, clock }),
      logs: createCarrierLogService({ database, clock }),
      environment,
    },
  };
}
