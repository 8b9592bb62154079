import { composeAccounts } from './compose/accounts.ts';
import { composeApis } from './compose/apis.ts';
import { type App, type AppOptions, openFoundation } from './compose/app-interface.ts';
import { composeBulkheads } from './compose/bulkheads.ts';
import { composeCarriers } from './compose/carriers.ts';
import { composeEdge } from './compose/edge.ts';
import { composeIdentity } from './compose/identity.ts';
import { composeInbound } from './compose/inbound.ts';
import { composePoolMetrics } from './compose/pool-metrics.ts';
import { composePortal } from './compose/portal.ts';
import { composeReadiness } from './compose/readiness.ts';
import { composeServer } from './compose/server.ts';
import { composeSmpp } from './compose/smpp/web.ts';
import { composeStreams } from './compose/streams.ts';
import { composeTwilio } from './compose/twilio/web.ts';
import { composeWindows } from './compose/windows.ts';
import { loadPhoneNumbers } from './messages/numbers/phone-number.ts';
import { createMetering } from './metering/metering.ts';
import { createRoutes } from './routes.ts';

export type { App, AppOptions } from './compose/app-interface.ts';

/** Builds the parts in order; each has its own file in `compose/`. */
export function createApp(options: AppOptions): App {
  const { config, clock, sideDatabase, log, version, wakeDelivery, node, extraRoutes = [] } = options;
  const foundation = openFoundation(options);
  const { metrics, tracer } = foundation;

  const bulkheads = composeBulkheads(foundation);
  composePoolMetrics(foundation);
  const { inbox, events, ...streams } = composeStreams(foundation, { bulkheads }, node?.places);
  const identity = composeIdentity(foundation, (id) => {
    streams.recheck(id);
    smpp.recheck(id);
  });
  const { registry, signingKeys, currentGuard } = identity;
  tracer?.shareAmong(() => registry.feed.liveCount);
  const accounts = composeAccounts(foundation, { registry: registry.service, passwordCost: options.passwordCost });
  const { optOuts, ...inbound } = composeInbound(foundation, { registry, inbox, wakeDelivery });
  const carriers = composeCarriers(foundation, { inbound: { optOuts, ...inbound }, wakeDelivery });
  const apis = composeApis(foundation, { ...identity, wakeDelivery, carriers, optOuts });
  const ownMetering = createMetering({ database: sideDatabase, clock, log });
  const metering = { ...ownMetering, flush: node?.flushMetering ?? ownMetering.flush };
  const { registrations, ...windows } = composeWindows(foundation, registry.feed);
  const twilio = composeTwilio(foundation, registry);
  const gateway = composeEdge(foundation, { identity, accounts, registrations, carriers, twilio });

  const smpp = composeSmpp(foundation, { registry, registrations, ...apis.messages, onCounted: ownMetering.note });

  const { checks, isDraining, drain } = composeReadiness(foundation, windows.checks, node);
  const shown = { version, registry, metering, registrations, checks, currentGuard };
  const routes = createRoutes({
    config,
    version,
    database: sideDatabase,
    ...accounts,
    registry: registry.service,
    identity: identity.routes,
    ...apis,
    twilio,
    ...inbound.routes,
    feed: events.feedRoutes,
    smpp: smpp.routes,
    ...composePortal(foundation, { ...shown, hasRedis: windows.hasRedis, carriers, events, ...apis.verify }),
    operations: {
      metrics: { contentType: metrics.registry.contentType, read: node?.readMetrics ?? metrics.text },
      processes: node?.processes,
      checks,
      carriers: carriers.directory.list,
      publicUrl: config.publicUrl,
      version,
    },
  });
  const served = { routes: [...routes, ...extraRoutes], gateway, onCounted: metering.note, bulkheads, isDraining };
  const server = composeServer(foundation, {
    ...served,
    timeouts: options.timeouts ?? {},
    sharesPort: node !== undefined,
  });

  return {
    server,
    routes,
    registry,
    ...{ people: accounts.people, ssoRechecks: accounts.ssoRechecks, smpp, signingKeys },
    metering: ownMetering,
    metrics,
    carriers: carriers.directory.list,
    alerts: carriers.alerts,
    async start() {
      await loadPhoneNumbers();
      await windows.start();
      await carriers.start();
      if (config.role !== 'worker') {
        await registry.feed.start();
        await signingKeys.prepare();
        accounts.ssoRechecks?.start();
      }
      await smpp.start();
      await server.listen({ port: config.port, host: config.host });
    },
    drain,
    async stop(graceMs = 10_000, drainMs = 1000) {
      streams.stop();
      await accounts.ssoRechecks?.stop();
      const late = setTimeout(() => server.closeAllConnections(), graceMs);
      await Promise.all([server.close(drainMs), smpp.stop(graceMs)]);
      clearTimeout(late);
      await apis.drain();
      await carriers.stop();
      await registry.lastUsed.stop();
      await ownMetering.stop();
      await registry.feed.stop();
      windows.stop();
      await tracer?.stop();
    },
  };
}
