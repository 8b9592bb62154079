import { findByKey, findByToken } from '../callers.ts';
import { createAddressWindows } from '../edge/address-windows.ts';
import { createGateway } from '../edge/gateway.ts';
import type { RegistrationWindows } from '../edge/windows.ts';
import { createWorkerGate } from '../edge/worker-gate.ts';
import type { Gate } from '../http/gate.ts';
import type { Metering } from '../metering/metering.ts';
import { apiPrefixes } from '../routes.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Identity } from './identity.ts';

export interface EdgeParts {
  identity: Identity;
  accounts: Accounts;
  metering: Metering;
  registrations: RegistrationWindows;
}

/** Builds the gate that every request passes first. A worker node answers only health checks and metrics. */
export function composeEdge({ config, clock, metrics }: Foundation, parts: EdgeParts): Gate {
  const { registry, lastUsed, verifier } = parts.identity;
  const { sessions } = parts.accounts;
  const addresses = createAddressWindows({ clock });
  const identityAddresses = createAddressWindows({ clock });
  metrics.gauge('heliograph_address_windows', 'Addresses in memory', () => addresses.size + identityAddresses.size);
  const finding = { clock, windows: parts.registrations, meterOf: parts.metering.meterOf };
  const gateway = createGateway({
    findKey: findByKey(registry, lastUsed, finding),
    findToken: findByToken(verifier, registry.feed, finding),
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
  return config.role === 'worker' ? createWorkerGate(gateway) : gateway;
}
