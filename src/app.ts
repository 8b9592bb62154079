import type { FastifyInstance } from 'fastify';
import { createGateway } from './edge/gateway.ts';
import type { Route } from './http/route.ts';
import { createServer, type ServerTimeouts } from './http/server.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import type { KeyRing } from './platform/keys.ts';
import type { Log } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { createRoutes } from './routes.ts';

export interface AppOptions {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  log: Log;
  version: string;
  timeouts?: Partial<ServerTimeouts>;
  /** Mounted beside the product's own, behind the same edge: for tests and benchmarks. */
  extraRoutes?: Route[];
}

export interface App {
  server: FastifyInstance;
  /** Listens, and answers from then on. */
  start(): Promise<void>;
  /** Stops accepting, finishes what is in flight, for at most `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** The parts list: everything is built here, in order, and handed to what needs it. */
export function createApp(options: AppOptions): App {
  const { config, clock, database, log, version, timeouts = {}, extraRoutes = [] } = options;
  const metrics = createMetrics();
  const gate = createGateway({ metricsToken: config.metricsToken });
  const routes = createRoutes({
    operations: {
      checks: [{ name: 'database', passes: () => database.query('select 1').then(() => true) }],
      metrics,
      publicUrl: config.publicUrl,
      version,
    },
  });
  const server = createServer({
    routes: [...routes, ...extraRoutes],
    gate,
    clock,
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    https: config.publicUrl.startsWith('https:'),
    timeouts,
  });

  return {
    server,
    async start() {
      await server.listen({ port: config.port, host: config.host });
    },
    async stop(graceMs = 10_000) {
      const late = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(late);
    },
  };
}
