import type { PersonService } from '../accounts/person-service.ts';
import type { PasswordCost } from '../accounts/sign-in/password.ts';
import type { Rechecks } from '../accounts/sso/rechecks.ts';
import { createNodeWindows, type NodeWindows } from '../edge/node-windows.ts';
import type { ProcessCount } from '../http/operations-api.ts';
import type { Route } from '../http/route.ts';
import type { HttpServer, ServerTimeouts } from '../http/server.ts';
import type { StreamPlaces } from '../http/streams/stream-places.ts';
import type { SigningKeys } from '../identity/signing-keys.ts';
import type { Metering } from '../metering/metering.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import type { Woken } from '../platform/work/wake-list.ts';
import type { Registry } from '../registry/registry.ts';
import type { Carriers } from './carriers.ts';
import type { Foundation } from './foundation.ts';
import type { Smpp } from './smpp/web.ts';
import { composeTracing } from './tracing/tracer.ts';

/** Wakes delivery: texts are due for these carriers, or for any. */
export type WakeDelivery = (carriers?: Woken) => void;

/** The dependencies and settings of the app. */
export interface AppOptions extends Omit<Foundation, 'metrics' | 'windows'> {
  version: string;
  /** Both are created here, unless another part also counts in them. */
  metrics?: Metrics;
  windows?: NodeWindows;
  timeouts?: Partial<ServerTimeouts>;
  passwordCost?: PasswordCost;
  /** Wakes the delivery workers: something is due. */
  wakeDelivery: WakeDelivery;
  /** Set in a web process of a node that has several. */
  node?: NodeOfProcesses;
  /** Extra routes behind the same edge, for tests and benchmarks. */
  extraRoutes?: Route[];
}

/** Adds what the app makes itself, unless it was given. */
export function openFoundation(options: AppOptions): Foundation {
  const { config, clock, log, version, metrics = createMetrics() } = options;
  const windows = options.windows ?? createNodeWindows(clock, metrics);
  const tracer = composeTracing({ config, clock, log, version, onCount: metrics.countSpans });
  return { ...options, metrics, windows, tracer };
}

/** The functions by which a web process asks its parent about the node. */
export interface NodeOfProcesses {
  /** False while the parent is late with a decision. */
  isAnswering(): boolean;
  processes(): ProcessCount;
  /** Counts open streams over all processes. */
  places: StreamPlaces;
  /** The metrics of all processes, and not of this one alone. */
  readMetrics?(): Promise<string>;
  /** Writes the usage and the requests that any process has counted. */
  flushMetering?(): Promise<void>;
}

export interface App extends Pick<Carriers, 'alerts'> {
  server: HttpServer;
  routes: Route[];
  registry: Registry;
  people: PersonService;
  smpp: Pick<Smpp, 'port' | 'tlsPort'>;
  signingKeys: SigningKeys;
  /** Undefined without single sign-on. */
  ssoRechecks: Rechecks | undefined;
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
