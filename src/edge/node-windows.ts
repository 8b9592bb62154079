import type { Clock } from '../platform/clock.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { createAddressWindows } from './address-windows.ts';
import { chargeOncePerCredential } from './credential-charges.ts';
import { createMemoryWindows } from './memory-windows.ts';
import type { LocalWindows, Windows } from './windows.ts';

/** The kinds of rate windows that a node has. Frames name a kind by its index here (`window-frames.ts`). */
export const windowKinds = ['registrations', 'visitors', 'clients', 'passwords'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** The windows of a node: of registrations, and of addresses by use: visits, token requests, passwords. */
export type NodeWindows = Record<WindowKind, Windows>;

/** The windows in this process: of a node that has one process, or of the parent of several. */
export function createNodeWindows(clock: Clock, metrics: Pick<Metrics, 'gauge'>): Record<WindowKind, LocalWindows> {
  const windows = {
    registrations: createMemoryWindows({ clock }),
    visitors: chargeOncePerCredential(createAddressWindows({ clock }), clock),
    clients: createAddressWindows({ clock }),
    passwords: createAddressWindows({ clock }),
  };
  metrics.gauge(
    'heliograph_registration_windows',
    'Registrations with requests in the last minute',
    () => windows.registrations.size,
  );
  metrics.gauge(
    'heliograph_address_windows',
    'Addresses in memory',
    () => windows.visitors.size + windows.clients.size,
  );
  metrics.gauge('heliograph_password_windows', 'Addresses with recent password requests', () => windows.passwords.size);
  return windows;
}
