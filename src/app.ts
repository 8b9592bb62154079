import type { FastifyInstance } from 'fastify';
import { findByKey, findByToken } from './callers.ts';
import { createAddressWindows } from './edge/address-windows.ts';
import { createGateway } from './edge/gateway.ts';
import { createMemoryWindows } from './edge/memory-windows.ts';
import type { Route } from './http/route.ts';
import { createServer, type ServerTimeouts } from './http/server.ts';
import { createProofSigner } from './identity/proof.ts';
import { createSigningKeys, type SigningKeys, signingKeysChange } from './identity/signing-keys.ts';
import { createTokenService } from './identity/token-service.ts';
import { createTokenVerifier } from './identity/token-verifier.ts';
import { createMessageService } from './messages/message-service.ts';
import { loadPhoneNumbers } from './messages/phone-number.ts';
import { createSendRules } from './messages/send-rules.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import { createIdempotency } from './platform/idempotency.ts';
import type { KeyRing } from './platform/keys.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { createDeveloperService, type DeveloperService } from './portal/developer-service.ts';
import { createPasswords, type PasswordCost } from './portal/password.ts';
import { createSessions } from './portal/session.ts';
import { createSignInThrottle } from './portal/sign-in-throttle.ts';
import { createLastUsed } from './registry/last-used.ts';
import { createRegistry, type Registry } from './registry/registry.ts';
import { apiPrefixes, createRoutes } from './routes.ts';
import { createHandsets } from './sandbox/handsets.ts';
import { createInboxFeed } from './sandbox/inbox-feed.ts';
import { createTextOf } from './text-of.ts';
import { createGuard } from './verify/guard.ts';
import { createStartRules } from './verify/start-rules.ts';
import { createVerifyService } from './verify/verify-service.ts';

export interface AppOptions {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  log: Log;
  version: string;
  timeouts?: Partial<ServerTimeouts>;
  passwordCost?: PasswordCost;
  /** Tells whoever delivers that something is due. */
  wakeDelivery: () => void;
  /** Mounted beside the product's own, behind the same edge: for tests and benchmarks. */
  extraRoutes?: Route[];
}

export interface App {
  server: FastifyInstance;
  routes: Route[];
  registry: Registry;
  developers: DeveloperService;
  signingKeys: SigningKeys;
  metrics: Metrics;
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

  const issuer = `${config.publicUrl}/realms/${config.realm}`;
  const registry = createRegistry({
    database,
    clock,
    keys,
    log,
    config,
    onChange({ applicationId }) {
      if (applicationId === signingKeysChange) signingKeys.forget();
    },
    onLost: () => signingKeys.forget(),
  });
  const { directory, feed } = registry;
  const lastUsed = createLastUsed(database, clock, log);

  const signingKeys = createSigningKeys({
    database,
    clock,
    keys,
    alg: config.tokenAlg,
    tokenSeconds: config.tokenSeconds,
    change: (work) => feed.change(signingKeysChange, work),
  });
  const verifier = createTokenVerifier({ database, clock, directory, feed, signingKeys, issuer });
  const tokens = createTokenService({
    clock,
    keys,
    directory,
    feed,
    signingKeys,
    verifier,
    issuer,
    tokenSeconds: config.tokenSeconds,
    onSecretUsed: lastUsed.note,
  });

  const passwords = createPasswords(options.passwordCost);
  const sessions = createSessions({ database, clock, keys, https });
  const throttle = createSignInThrottle(database, clock, keys);
  const developers = createDeveloperService({ database, clock, keys, passwords, sessions, throttle });

  // Production has no carrier yet, and says so before it accepts anything.
  const carrierFor = () => (config.environment === 'sandbox' ? 'sandbox' : undefined);
  const messages = createMessageService({ database, clock, carrierFor, wake: options.wakeDelivery });
  const verify = createVerifyService({
    database,
    clock,
    keys,
    guard: createGuard(config.guard, config.environment),
    environment: config.environment,
    resendSeconds: config.resendSeconds,
    signProof: createProofSigner(signingKeys, issuer, clock),
    wake: options.wakeDelivery,
  });
  const idempotency = createIdempotency(database, clock, keys.keyFor('idempotency'));
  const rules = createSendRules(clock, config.environment);
  const handsets = createHandsets(database, clock);
  const inboxFeed = createInboxFeed(handsets, log);

  const registrations = createMemoryWindows({ clock });
  const addresses = createAddressWindows({ clock });
  const identityAddresses = createAddressWindows({ clock });
  metrics.gauge(
    'heliograph_registration_windows',
    'Registrations with requests in the last minute',
    () => registrations.size,
  );
  metrics.gauge('heliograph_address_windows', 'Addresses remembered', () => addresses.size + identityAddresses.size);
  metrics.gauge(
    'heliograph_remembered_credentials',
    'Keys, clients and tokens remembered',
    () => directory.size + verifier.size,
  );
  const gate = createGateway({
    findKey: findByKey(registry, lastUsed, clock),
    findToken: findByToken(verifier),
    findSession: sessions.find,
    sessionCookie: sessions.cookieName,
    registrations,
    addresses,
    identityAddresses,
    addressLimits: config.addressLimits,
    apis: apiPrefixes,
    metricsToken: config.metricsToken,
    publicUrl: config.publicUrl,
  });
  const routes = createRoutes({
    database,
    developers,
    registry: registry.service,
    tokenUrl: tokenUrlOf(config),
    verify: { verify, idempotency, rules: createStartRules(config.environment), carrierFor },
    messages: { messages, idempotency, rules },
    inbox:
      config.environment === 'sandbox'
        ? {
            database,
            handsets,
            feed: inboxFeed,
            textOf: createTextOf(keys, config.environment),
            owns: registry.service.owns,
          }
        : undefined,
    identity: { tokens, signingKeys, realm: config.realm, issuer, nowMs: clock.nowMs },
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
    signingKeys,
    metrics,
    async start() {
      await loadPhoneNumbers();
      await feed.start();
      await signingKeys.prepare();
      await server.listen({ port: config.port, host: config.host });
    },
    async stop(graceMs = 10_000) {
      inboxFeed.stop();
      const late = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(late);
      await messages.drain();
      await verify.drain();
      await lastUsed.stop();
      await feed.stop();
    },
  };
}

export function tokenUrlOf({ publicUrl, realm }: Pick<Config, 'publicUrl' | 'realm'>): string {
  return `${publicUrl}/realms/${realm}/protocol/openid-connect/token`;
}
