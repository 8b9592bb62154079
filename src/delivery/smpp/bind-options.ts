import type { Clock } from '../../platform/clock.ts';
import type { Delivery } from '../../smpp/deliveries.ts';
import type { PduLog } from './pdu-log.ts';
import type { SmppSettings } from './settings.ts';

/** The settings and functions that a carrier gives its binds. */
export interface BindOptions {
  /**
   * The current settings, with the password and the client's key. A change of settings that a bind is made with never shows
   * here: it restarts the carrier.
   */
  settings: () => SmppSettings;
  clock: Clock;
  log: PduLog;
  /** The sandbox allows only loopback. Checked at every connect, because a name may resolve to another address. */
  isAllowedAddress: (address: string) => boolean;
  /** Writes a receipt or text and resolves to the command_status of its answer (see session-types.ts). */
  onDeliver: (delivery: Delivery) => Promise<number>;
  /** The state or the number of free slots has changed. */
  onChange: () => void;
  /** False while another connection of ours tests the account: then no attempt begins. */
  mayTry?: () => boolean;
  /** Another session of this account has just ended, here or on another node. */
  justUnbound?: boolean;
  /** The addresses of a name; the system's resolver by default. */
  resolve?: (host: string) => Promise<string[]>;
  /** A fraction in [0, 1) for jitter. */
  random?: () => number;
}
