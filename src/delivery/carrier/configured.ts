import type { SendingChannel } from '../../messages/channel.ts';

/** What a worker knows about a carrier of any kind. */
export interface CarrierFacts {
  id: number;
  key: string;
  account: string;
  name: string;
  /** Absent: `sms` alone. */
  channels?: readonly SendingChannel[] | undefined;
  /** In the addresses of its callbacks; null if it has none. */
  callbackToken: string | null;
  /** Rises with each change of settings, and when it is paused or resumed. */
  version: number;
  generation: number;
  paused: boolean;
  /** The worker writes its log when this is newer than its last log. */
  logWantedAtMs: number | null;
  /** Each time this is newer, an operator wants a connection attempt at once. */
  tryWantedAtMs: number | null;
  /** A test waits for a worker: `claimTest` takes it. */
  testWaiting: boolean;
}
