import { fileURLToPath } from 'node:url';
import { findByKey, findByToken } from './callers.ts';
import { createTextOf } from './compose/text-of.ts';
import { readQueueState } from './delivery/delivery-store.ts';
import { addressKey } from './edge/address-key.ts';
import { createAddressWindows } from './edge/address-windows.ts';
import { createGateway } from './edge/gateway.ts';
import { createMemoryWindows } from './edge/memory-windows.ts';
import { createRedisWindows } from './edge/redis-windows.ts';
import { createShareWindows } from './edge/share-windows.ts';
import { createWindowBreaker } from './edge/window-breaker.ts';
import { createWorkerGate } from './edge/worker-gate.ts';
import type { Check } from './http/operations-api.ts';
import type { Route } from './http/route.ts';
import { createServer, type HttpServer, type ServerTimeouts } from './http/server.ts';
import { createProofSigner } from './identity/proof.ts';
import { createSigningKeys, type SigningKeys, signingKeysChange } from './identity/signing-keys.ts';
import { createTokenChecksums } from './identity/token-checksum.ts';
import { createTokenService } from './identity/token-service.ts';
import { createTokenVerifier } from './identity/token-verifier.ts';
import { createMessageService } from './messages/message-service.ts';
import { loadPhoneNumbers } from './messages/phone-number.ts';
import { createSendRules } from './messages/send-rules.ts';
import { createMetering, type Metering } from './metering/metering.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import { createFairShare } from './platform/fair-share.ts';
import { createIdempotency } from './platform/idempotency.ts';
import { newId } from './platform/ids.ts';
import type { KeyRing } from './platform/keys.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { createDeveloperService, type DeveloperService } from './portal/developer-service.ts';
import { createHasher, type PasswordCost } from './portal/password.ts';
import { createPasswordWork } from './portal/password-work.ts';
import { createRequestStories } from './portal/request-story.ts';
import { createSessions } from './portal/session.ts';
import { createSignInThrottle } from './portal/sign-in-throttle.ts';
import { createLastUsed } from './registry/last-used.ts';
import { createRegistry, type Registry } from './registry/registry.ts';
import { apiPrefixes, createRoutes } from './routes.ts';
import { createHandsets } from './sandbox/handsets.ts';
import { createInboxFeed } from './sandbox/inbox-feed.ts';
import { createInboxStreams } from './sandbox/inbox-streams.ts';
import { createReadTexts } from './sandbox/inbox-text.ts';
import { createGuard } from './verify/guard.ts';
import { createStartRules } from './verify/start-rules.ts';
import { createVerifyService } from './verify/verify-service.ts';

export interface AppOptions {
  config: Config;
  clock: Clock;
  database: Database;
  /** A small pool for portal, lists, usage, health and streams: slow reads there take no connection from the APIs. */
  sideDatabase: Database;
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
  server: HttpServer;
  routes: Route[];
  registry: Registry;
  developers: DeveloperService;
  signingKeys: SigningKeys;
  metering: Metering;
  metrics: Metrics;
  /** Listens, and answers from then on. */
  start(): Promise<void>;
  /**
   * Says that it is about to stop, and goes on answering for so long: `/readyz` is a 503 and every answer the last on its
   * connection, so that a balancer turns to other nodes before this one refuses anything.
   */
  drain(forMs: number): Promise<void>;
  /**
   * Stops accepting and finishes what is in flight, for at most `graceMs`. Connections that stay open between requests get
   * `drainMs` to be told that they end.
   */
  stop(graceMs?: number, drainMs?: number): Promise<void>;
}

/** Beside `src` as well as beside `dist`. */
const pagesFolder = fileURLToPath(new URL('../portal/dist', import.meta.url));

/** The parts list: everything is built here, in order, and handed to what needs it. */
export function createApp(options: AppOptions): App {
  const { config, clock, database, sideDatabase, keys, log, version, timeouts = {}, extraRoutes = [] } = options;
  const https = config.publicUrl.startsWith('https:');
  const metrics = createMetrics();

  const issuer = `${config.publicUrl}/realms/${config.realm}`;
  const registry = createRegistry({
    database,
    sideDatabase,
    clock,
    keys,
    log,
    config,
    onChange({ applicationId }) {
      if (applicationId === signingKeysChange) signingKeys.forget();
      inboxStreams.recheck(applicationId);
    },
    onLost() {
      signingKeys.forget();
      inboxStreams.recheck();
    },
  });
  const { directory, feed } = registry;
  const lastUsed = createLastUsed(sideDatabase, clock, log);

  const signingKeys = createSigningKeys({
    database,
    clock,
    keys,
    alg: config.tokenAlg,
    tokenSeconds: config.tokenSeconds,
    change: (work) => feed.change(signingKeysChange, work),
  });
  const checksums = createTokenChecksums(keys);
  const verifier = createTokenVerifier({ database, clock, directory, feed, signingKeys, checksums, issuer });
  const tokens = createTokenService({
    database,
    clock,
    keys,
    directory,
    feed,
    signingKeys,
    verifier,
    checksums,
    issuer,
    tokenSeconds: config.tokenSeconds,
    onSecretUsed: lastUsed.note,
  });

  const hasher = createHasher(options.passwordCost);
  const passwordWindows = createAddressWindows({ clock });
  const passwordLimits = { perMinute: config.passwordPerMinute, burst: config.passwordPerMinute };
  const passwordWork = createPasswordWork({
    hasher,
    addressKey,
    takeTry: (key) => passwordWindows.decide(key, passwordLimits, Number.NEGATIVE_INFINITY),
    perMinute: config.passwordPerMinute,
  });
  const sessions = createSessions({ database: sideDatabase, clock, keys, https });
  const throttle = createSignInThrottle(sideDatabase, clock, keys);
  const developers = createDeveloperService({
    database: sideDatabase,
    clock,
    keys,
    hasher,
    passwordWork,
    sessions,
    throttle,
  });

  // Production has no carrier yet, and says so before it accepts anything.
  const carrierFor = () => (config.environment === 'sandbox' ? 'sandbox' : undefined);
  const messages = createMessageService({ database, sideDatabase, clock, carrierFor, wake: options.wakeDelivery });
  const bulkheads = {
    side: createFairShare({ concurrent: 4, perCaller: 2, waitingPerCaller: 100, waitMs: 2000 }),
    single: createFairShare({ concurrent: 5, perCaller: 3, waitingPerCaller: 1000, waitMs: 2000 }),
  };
  const verify = createVerifyService({
    database,
    sideDatabase,
    singles: bulkheads.single,
    clock,
    keys,
    guard: createGuard(config.guard, config.environment),
    environment: config.environment,
    resendSeconds: config.resendSeconds,
    signProof: createProofSigner(signingKeys, issuer, clock),
    wake: options.wakeDelivery,
  });
  const idempotency = createIdempotency(database, clock, keys);
  const rules = createSendRules(clock, config.environment);
  const handsets = createHandsets(sideDatabase, clock);
  const readTexts = createReadTexts({ database: sideDatabase, textOf: createTextOf(keys, config.environment) });
  const inboxFeed = createInboxFeed({ handsets, readTexts, log });
  const inboxStreams = createInboxStreams({ feed: inboxFeed, handsets, readTexts });

  const metering = createMetering({ database: sideDatabase, clock, log, boot: newId('nod', clock) });
  const stories = createRequestStories({
    database: sideDatabase,
    clock,
    metering,
    applicationIdsOf: registry.service.listApplicationIds,
  });
  // Alone, a node keeps the windows itself; with others, only its share of them while the store is away.
  const own = createMemoryWindows({ clock });
  const share = createShareWindows({ clock, liveNodes: () => feed.liveCount });
  const breaker = config.redisUrl === undefined ? undefined : createWindowBreaker({ url: config.redisUrl, log });
  const registrations = breaker === undefined ? own : createRedisWindows({ breaker, share, clock });
  const addresses = createAddressWindows({ clock });
  const identityAddresses = createAddressWindows({ clock });
  metrics.gauge(
    'heliograph_registration_windows',
    'Registrations with requests in the last minute',
    () => own.size + share.size,
  );
  if (breaker !== undefined) {
    metrics.gauge(
      'heliograph_window_store_in_use',
      '1 while the shared windows decide, 0 while this node’s share does',
      () => (breaker.redis === undefined ? 0 : 1),
    );
    metrics.counter(
      'heliograph_window_share_decisions_total',
      'Requests decided by this node’s share, because the window store was away',
      () => share.decisions,
    );
    metrics.gauge(
      'heliograph_live_nodes',
      'Nodes that answer requests, as this one last saw them',
      () => feed.liveCount,
    );
  }
  metrics.gauge(
    'heliograph_address_windows',
    'Addresses remembered',
    () => addresses.size + identityAddresses.size + passwordWindows.size,
  );
  metrics.gauge(
    'heliograph_remembered_credentials',
    'Keys, clients and tokens remembered',
    () => directory.size + verifier.size,
  );
  const finding = { clock, windows: registrations, meterOf: metering.meterOf };
  const gateway = createGateway({
    findKey: findByKey(registry, lastUsed, finding),
    findToken: findByToken(verifier, feed, finding),
    findSession: sessions.find,
    findOpenSessions: sessions.findOpen,
    sessionCookie: sessions.cookieName,
    addresses,
    identityAddresses,
    addressLimits: config.addressLimits,
    apis: apiPrefixes,
    metrics: { token: config.metricsToken, openToLoopback: config.environment === 'sandbox' },
    publicUrl: config.publicUrl,
  });
  const gate = config.role === 'worker' ? createWorkerGate(gateway) : gateway;
  metrics.gauge('heliograph_side_requests', 'Portal, list and report requests at work', () => bulkheads.side.running);
  metrics.gauge('heliograph_side_requests_waiting', 'Those that wait for their turn', () => bulkheads.side.waiting);
  let draining = false;
  const checks: Check[] = [{ name: 'database', passes: () => database.query('select 1').then(() => true) }];
  if (breaker !== undefined) {
    // Without the store every node still grants its share: taking all of them out of rotation would help nobody.
    checks.push({ name: 'window_store', optional: true, passes: async () => breaker.redis !== undefined });
    checks.push({ name: 'accepting', passes: async () => !draining });
  }
  const { requireOwn } = registry.service;
  const routes = createRoutes({
    config,
    version,
    database: sideDatabase,
    developers,
    registry: registry.service,
    tokenUrl: tokenUrlOf(config),
    usage: {
      database: sideDatabase,
      clock,
      registry: registry.service,
      plans: config.plans,
      flush: metering.flush,
      quotaOf: async (id, limits) => registrations.peek(id, limits),
    },
    requests: {
      database: sideDatabase,
      clock,
      registry: registry.service,
      findStory: stories.find,
      flush: metering.flush,
    },
    developerMessages: { database: sideDatabase, requireOwn },
    developerVerifications: { database: sideDatabase, clock, verify, requireOwn },
    health: {
      database: sideDatabase,
      clock,
      version,
      environment: config.environment,
      checks,
      liveNodes: feed.liveNodes,
      countRegistry: registry.service.count,
      queue: () => readQueueState(sideDatabase, clock.nowMs()),
    },
    verify: { verify, idempotency, rules: createStartRules(config.environment), carrierFor },
    messages: { messages, idempotency, rules },
    inbox:
      config.environment === 'sandbox'
        ? {
            handsets,
            readTexts,
            streams: inboxStreams,
            requireOwn,
          }
        : undefined,
    identity: { tokens, signingKeys, realm: config.realm, issuer, nowMs: clock.nowMs },
    pagesFolder,
    operations: {
      checks,
      metrics,
      publicUrl: config.publicUrl,
      version,
    },
  });
  const server = createServer({
    routes: [...routes, ...extraRoutes],
    gate,
    bulkheads,
    clock,
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    https,
    isDraining: () => draining,
    timeouts,
  });

  return {
    server,
    routes,
    registry,
    developers,
    signingKeys,
    metering,
    metrics,
    async start() {
      await loadPhoneNumbers();
      await breaker?.start();
      if (config.role !== 'worker') {
        await feed.start();
        await signingKeys.prepare();
      }
      await server.listen({ port: config.port, host: config.host });
    },
    async drain(forMs) {
      draining = true;
      await new Promise((done) => setTimeout(done, forMs));
    },
    async stop(graceMs = 10_000, drainMs = 1000) {
      inboxStreams.stop();
      const late = setTimeout(() => server.closeAllConnections(), graceMs);
      await server.close(drainMs);
      clearTimeout(late);
      await messages.drain();
      await verify.drain();
      await lastUsed.stop();
      await metering.stop();
      await feed.stop();
      breaker?.stop();
    },
  };
}

export function tokenUrlOf({ publicUrl, realm }: Pick<Config, 'publicUrl' | 'realm'>): string {
  return `${publicUrl}/realms/${realm}/protocol/openid-connect/token`;
}
