import type { Route } from '../http/route.ts';
import type { HttpServer, ServerTimeouts } from '../http/server.ts';
import type { SigningKeys } from '../identity/signing-keys.ts';
import type { Metering } from '../metering/metering.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { DeveloperService } from '../portal/developer-service.ts';
import type { PasswordCost } from '../portal/password.ts';
import type { Registry } from '../registry/registry.ts';
import type { Carriers } from './carriers.ts';
import type { Foundation } from './foundation.ts';

/** What the app is made of. */
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
