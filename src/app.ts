import { composeAccounts } from './compose/accounts.ts';
import { composeApis } from './compose/apis.ts';
import { composeBulkheads } from './compose/bulkheads.ts';
import { type Carriers, composeCarriers } from './compose/carriers.ts';
import { composeEdge } from './compose/edge.ts';
import type { Foundation } from './compose/foundation.ts';
import { composeIdentity } from './compose/identity.ts';
import { composeInbound } from './compose/inbound.ts';
import { composeInbox } from './compose/inbox.ts';
import { composePortal } from './compose/portal.ts';
import { composeReadiness } from './compose/readiness.ts';
import { composeServer } from './compose/server.ts';
import { composeWindows } from './compose/windows.ts';
import type { Route } from './http/route.ts';
import type { HttpServer, ServerTimeouts } from './http/server.ts';
import type { SigningKeys } from './identity/signing-keys.ts';
import { loadPhoneNumbers } from './messages/phone-number.ts';
import { createMetering, type Metering } from './metering/metering.ts';
import { newId } from './platform/ids.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import type { DeveloperService } from './portal/developer-service.ts';
import type { PasswordCost } from './portal/password.ts';
import type { Registry } from './registry/registry.ts';
import { createRoutes } from './routes.ts';

export interface AppOptions extends Omit<Foundation, 'metrics'> {
  version: string;
  timeouts?: Partial<ServerTimeouts>;
  passwordCost?: PasswordCost;
  /** Tells the delivery worker that something is due. */
  wakeDelivery: () => void;
  /** Extra routes behind the same edge, for tests and benchmarks. */
  extraRoutes?: Route[];
}

export interface App extends Pick<Carriers, 'alerts'> {
  server: HttpServer;
  routes: Route[];
  registry: Registry;
  developers: DeveloperService;
  signingKeys: SigningKeys;
  metering: Metering;
  metrics: Metrics;
  carriers: Carriers['directory']['list'];
  /** Starts listening. */
  start(): Promise<void>;
  /** For `forMs`, `/readyz` answers 503 and every response closes its connection, so balancers move to other nodes. */
  drain(forMs: number): Promise<void>;
  /** Stops accepting and finishes requests in flight within `graceMs`. Idle connections close within `drainMs`. */
  stop(graceMs?: number, drainMs?: number): Promise<void>;
}

/** Builds the parts in order; each has its own file in `compose/`. */
export function createApp(options: AppOptions): App {
  const { config, clock, sideDatabase, log, version, wakeDelivery, extraRoutes = [] } = options;
  const foundation: Foundation = { ...options, metrics: createMetrics() };

  const inbox = composeInbox(foundation);
  const identity = composeIdentity(foundation, (applicationId) => inbox.streams.recheck(applicationId));
  const { registry, signingKeys } = identity;
  const accounts = composeAccounts(foundation, options.passwordCost);
  const bulkheads = composeBulkheads(foundation);
  const { optOuts, ...inbound } = composeInbound(foundation, { registry, inbox, wakeDelivery });
  const carriers = composeCarriers(foundation, { inbound: { optOuts, ...inbound }, wakeDelivery });
  const apis = composeApis(foundation, { bulkheads, signProof: identity.signProof, wakeDelivery, carriers, optOuts });
  const metering = createMetering({ database: sideDatabase, clock, log, boot: newId('nod', clock) });
  const { registrations, ...windows } = composeWindows(foundation, registry.feed);
  const gateway = composeEdge(foundation, { identity, accounts, registrations, isCallback: carriers.isCallback });

  const { checks, isDraining, drain } = composeReadiness(foundation, windows.checks);
  const routes = createRoutes({
    config,
    version,
    database: sideDatabase,
    ...accounts,
    registry: registry.service,
    identity: identity.routes,
    ...apis,
    ...inbound.routes,
    ...composePortal(foundation, { version, registry, metering, registrations, checks, carriers, ...apis.verify }),
    operations: { ...foundation, checks, carriers: carriers.directory.list, publicUrl: config.publicUrl, version },
  });
  const served = { routes: [...routes, ...extraRoutes], gateway, onCounted: metering.note, bulkheads, isDraining };
  const server = composeServer(foundation, { ...served, timeouts: options.timeouts ?? {} });

  return {
    server,
    routes,
    registry,
    developers: accounts.developers,
    signingKeys,
    metering,
    metrics: foundation.metrics,
    carriers: carriers.directory.list,
    alerts: carriers.alerts,
    async start() {
      await loadPhoneNumbers();
      await windows.start();
      await carriers.start();
      if (config.role !== 'worker') {
        await registry.feed.start();
        await signingKeys.prepare();
      }
      await server.listen({ port: config.port, host: config.host });
    },
    drain,
    async stop(graceMs = 10_000, drainMs = 1000) {
      inbox.streams.stop();
      const late = setTimeout(() => server.closeAllConnections(), graceMs);
      await server.close(drainMs);
      clearTimeout(late);
      await apis.drain();
      await carriers.stop();
      await registry.lastUsed.stop();
      await metering.stop();
      await registry.feed.stop();
      windows.stop();
    },
  };
}
