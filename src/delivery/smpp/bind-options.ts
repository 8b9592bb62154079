import type { Clock } from '../../platform/clock.ts';
import type { Delivery } from '../../smpp/deliveries.ts';
import type { PduLog } from './pdu-log.ts';
import type { SmppSettings } from './settings.ts';

/** What the binds of a carrier need of the carrier. */
export interface BindOptions {
  /**
   * As they are now, with the password and the client's key. What a session is bound with never changes: the carrier is
   * started anew for that.
   */
  settings: () => SmppSettings;
  clock: Clock;
  log: PduLog;
  /** In the sandbox only loopback addresses are allowed. Asked at every connect, because a name may lead elsewhere by then. */
  isAllowedAddress: (address: string) => boolean;
  /** Writes a receipt or text and resolves to the command_status of its answer (see session-types.ts). */
  onDeliver: (delivery: Delivery) => Promise<number>;
  /** The state or the number of free places has changed. */
  onChange: () => void;
  /** False while another connection of ours tries the account: then no try begins. */
  mayTry?: () => boolean;
  /** Another session of this account has just ended, here or on another node. */
  justUnbound?: boolean;
  /** The addresses of a name; the system's resolver by default. */
  resolve?: (host: string) => Promise<string[]>;
  /** A fraction in [0, 1) for jitter. */
  random?: () => number;
}
