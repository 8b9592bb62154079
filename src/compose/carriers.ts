import { createCarrierLogService } from '../delivery/carrier/log-service.ts';
import { hasAwaitedTexts } from '../delivery/receipts/awaited-texts.ts';
import type { CodeResendOptions } from '../delivery/receipts/code-resends.ts';
import { createCarrierDirectory } from '../delivery/routing/directory.ts';
import { createRouteExplain } from '../delivery/routing/explain.ts';
import { findNextCarrier } from '../delivery/routing/next-carrier.ts';
import { createRouteService } from '../delivery/routing/service.ts';
import type { RouteRule } from '../delivery/routing/table.ts';
import { createTextRoutes } from '../delivery/routing/text-routes.ts';
import { createCallbackCarriers } from '../delivery/setup/callback-carriers.ts';
import { createCarrierService } from '../delivery/setup/service.ts';
import { createCarrierTestService } from '../delivery/setup/test-service.ts';
import { routedCountryOf } from '../messages/numbers/phone-number.ts';
import { nameOfCarrier } from '../quality/alerts/alert.ts';
import { readEffect } from '../quality/route-effect.ts';
import { createTotals } from '../quality/totals.ts';
import { findPending } from '../verify/pending-store.ts';
import { composeAlerts } from './alerts.ts';
import { type CallbackParts, composeCallbacks } from './callbacks.ts';
import type { Foundation } from './foundation.ts';

export type Carriers = ReturnType<typeof composeCarriers>;

/** Builds what web nodes know of carriers: the operators' API, and the choice of a carrier for each text. */
export function composeCarriers(
  foundation: Foundation,
  { inbound, wakeDelivery }: { inbound: CallbackParts['inbound']; wakeDelivery: (carriers: readonly string[]) => void },
) {
  const { config, clock, sideDatabase: database, keys, log, metrics } = foundation;
  const { environment } = config;
  const known = createCallbackCarriers({ database, keys, log });
  const directory = createCarrierDirectory({ database, clock, log, onRows: known.follow });
  const alerts = composeAlerts(foundation);
  const totals = createTotals({
    database,
    clock,
    log,
    onEvent: (carrier, country, event) => metrics.countText(nameOfCarrier(carrier), country, event, 1),
  });
  metrics.gauges('heliograph_carrier_binds', 'Connections of carriers by state', ['carrier', 'state'], () => {
    const counts = new Map<string, number>();
    for (const { name, binds } of directory.list()) {
      for (const { state } of binds) counts.set(`${name} ${state}`, (counts.get(`${name} ${state}`) ?? 0) + 1);
    }
    return [...counts].map(([labels, value]) => ({ labels: labels.split(' '), value }));
  });

  /** What it takes to send a code again by another carrier, after a receipt by HTTP reported a failure. */
  const resend: CodeResendOptions = {
    findPending: (tx, ids) => findPending(tx, ids, clock.nowMs()),
    nextCarrier(text, from) {
      const health = directory.list();
      const now = { environment, table: directory.table(), health, countryOf: routedCountryOf, nowMs: clock.nowMs() };
      return findNextCarrier(text, from, now);
    },
    onMoved: wakeDelivery,
  };

  return {
    directory,
    alerts,
    async start(): Promise<void> {
      await directory.start();
      totals.start();
      alerts.start();
    },
    async stop(): Promise<void> {
      await directory.stop();
      await alerts.stop();
      await totals.stop();
    },
    texts: createTextRoutes({ directory, clock, environment }),
    routing: {
      routes: createRouteService({ database, clock, environment, onChanged: directory.refresh }),
      explain: createRouteExplain({ database, clock, directory, environment }),
      effect: (rules: readonly RouteRule[]) => readEffect(database, rules, clock.nowMs()),
    },
    routes: {
      carriers: createCarrierService({
        ...{ database, clock, keys, environment },
        publicUrl: config.publicUrl,
        hasAwaitedTexts,
        onChanged: directory.refresh,
      }),
      tests: createCarrierTestService({ database, clock }),
      logs: createCarrierLogService({ database, clock }),
      environment,
    },
    isCallback: known.knows,
    callbacks: {
      callbacks: composeCallbacks(foundation, known, { inbound, totals, resend }),
      publicUrl: config.publicUrl,
    },
  };
}
