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
import { createDeveloperService, type DeveloperService } from './portal/developer-service.ts';
import { createPasswords, type PasswordCost } from './portal/password.ts';
import { createSessions } from './portal/session.ts';
import { createSignInThrottle } from './portal/sign-in-throttle.ts';
import { createRegistry, type Registry } from './registry/registry.ts';
import { createRoutes } from './routes.ts';

export interface AppOptions {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  log: Log;
  version: string;
  timeouts?: Partial<ServerTimeouts>;
  passwordCost?: PasswordCost;
  /** Mounted beside the product's own, behind the same edge: for tests and benchmarks. */
  extraRoutes?: Route[];
}

export interface App {
  server: FastifyInstance;
  routes: Route[];
  registry: Registry;
  developers: DeveloperService;
  /** Listens, and answers from then on. */
  start(): Promise<void>;
  /** Stops accepting, finishes what is in flight, for at most `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** The parts list: everything is built here, in order, and handed to what needs it. */
export function createApp(options: AppOptions): App {
  const { config, clock, database, keys, log, version, timeouts = {}, extraRoutes = [] } = options;
  const https = config.publicUrl.startsWith('https:');
  const metrics = createMetrics();

  const registry = createRegistry({ database, clock, keys, log, config });

  const passwords = createPasswords(options.passwordCost);
  const sessions = createSessions({ database, clock, keys, https });
  const throttle = createSignInThrottle(database, clock, keys);
  const developers = createDeveloperService({ database, clock, keys, passwords, sessions, throttle });

  const gate = createGateway({
    metricsToken: config.metricsToken,
    publicUrl: config.publicUrl,
    sessionCookie: sessions.cookieName,
    findSession: sessions.find,
  });
  const routes = createRoutes({
    database,
    developers,
    registry: registry.service,
    tokenUrl: tokenUrlOf(config),
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
    https,
    timeouts,
  });

  return {
    server,
    routes,
    registry,
    developers,
    async start() {
      await registry.feed.start();
      await server.listen({ port: config.port, host: config.host });
    },
    async stop(graceMs = 10_000) {
      const late = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(late);
      await registry.feed.stop();
    },
  };
}

export function tokenUrlOf({ publicUrl, realm }: Pick<Config, 'publicUrl' | 'realm'>): string {
  return `${publicUrl}/realms/${realm}/protocol/openid-connect/token`;
}
