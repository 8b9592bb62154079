import type { PasswordCost } from '../../src/accounts/sign-in/password.ts';
import { type App, createApp } from '../../src/app.ts';
import { createDelivery, type Delivery } from '../../src/compose/delivery.ts';
import { composeTracing } from '../../src/compose/tracing/tracer.ts';
import type { Route } from '../../src/http/route.ts';
import type { ServerTimeouts } from '../../src/http/server.ts';
import type { OpenKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { type Config, readConfig } from '../../src/settings/settings.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { openTestKeyRing, testSecret } from './key-ring.ts';
import { createTestLog } from './log.ts';
import { forgetRoutes, rememberRoutes } from './promised.ts';
import { isWebProcess, webProcessOf } from './web-process.ts';

export interface TestApp {
  app: App;
  /** Where it listens: a real socket on loopback. */
  url: string;
  port: number;
  clock: TestClock;
  config: Config;
  db: TestDatabase;
  logLines: string[];
  delivery: Delivery;
  keys: OpenKeyRing;
  close(): Promise<void>;
}

export interface TestAppOptions {
  env?: Record<string, string>;
  extraRoutes?: Route[];
  timeouts?: Partial<ServerTimeouts>;
  /** Without it texts are accepted and stay where they are. */
  delivery?: 'held' | undefined;
  /** Other than cheap, for a test in which two hashes have to overlap. */
  passwordCost?: PasswordCost;
  /** Whether the node's clock is right; it always is by default. */
  clockWatch?: { isRight(): boolean };
  /** Another app's, for two nodes at the same time. */
  clock?: TestClock;
  /** A database that is already there; it is left to its owner. */
  db?: TestDatabase;
  /** As many connections as a node has, for a race. */
  manyConnections?: boolean;
}

const many = { poolSize: 10, sidePoolSize: 6 };
/** Each connection costs Postgres as much as dozens of statements: it reads the catalog and plans anew. */
const few = { poolSize: 4, sidePoolSize: 2 };

/** The real app on a real database behind a real socket; only its clock is in the test's hand. */
export async function createTestApp({
  env = {},
  extraRoutes = [],
  timeouts,
  delivery: held,
  passwordCost = { scrypt: { logN: 10, p: 1 }, argon2: { memoryKiB: 64, passes: 1 } },
  clock = createTestClock(),
  clockWatch,
  db,
  manyConnections = db !== undefined,
}: TestAppOptions = {}): Promise<TestApp> {
  const { poolSize, sidePoolSize } = manyConnections ? many : few;
  const own = db ?? (await createTestDatabase({ poolSize }));
  const { log, lines } = createTestLog();
  const read = readConfig({
    HELIOGRAPH_SECRET: testSecret,
    // All developers of a test have the same address.
    HELIOGRAPH_PASSWORD_PER_MINUTE: '1000000',
    // The test runner runs contract tests on both lanes.
    ...(process.env.HELIOGRAPH_HTTP_LANE && { HELIOGRAPH_HTTP_LANE: process.env.HELIOGRAPH_HTTP_LANE }),
    ...env,
  });
  // A test that needs to know its public address in advance names a port that is free.
  // Any free port, for a test that names one.
  const smpp = { ...read.smpp, ...(read.smpp.port && { port: 0 }), ...(read.smpp.tlsPort && { tlsPort: 0 }) };
  const config = { ...read, smpp, port: 'PORT' in env ? read.port : 0 };
  const keys = await openTestKeyRing(own.database, clock);
  // In the app's own thread here, with the test's clock; `npm start` gives it a thread of its own.
  const tracer = composeTracing({ config, clock, log, version: '0.0.0-test', onCount: () => {} });
  const delivery = createDelivery({
    config,
    tracer,
    database: own.database,
    clock,
    keys,
    log,
    onCount: () => {},
    onCarrierCount: () => {},
    onMaintenance: () => {},
  });
  const app = createApp({
    config,
    clock,
    clockWatch,
    database: own.database,
    sideDatabase: own.another({ poolSize: sidePoolSize }),
    keys,
    log,
    version: '0.0.0-test',
    extraRoutes,
    wakeDelivery: (carriers) => (held === undefined ? delivery.wake(carriers) : undefined),
    // Real hashing, at a cost that suits a test.
    passwordCost,
    ...(timeouts && { timeouts }),
    ...(isWebProcess && webProcessOf(clock)),
  });
  await app.start();
  if (held === undefined) {
    await delivery.start();
    // Tests run the chores by `maintenance.runAll()`: a hundred statements in the first ten seconds of each app find nothing.
    await delivery.maintenance.stop();
  }
  const address = app.server.listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  rememberRoutes(url, app.routes);
  return {
    app,
    url,
    port,
    clock,
    config,
    db: own,
    logLines: lines,
    delivery,
    keys,
    async close() {
      forgetRoutes(url);
      await app.stop(1000, 0);
      await delivery.stop();
      if (db === undefined) await own.drop();
    },
  };
}
