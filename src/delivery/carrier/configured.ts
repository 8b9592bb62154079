import type { SendingChannel } from '../../messages/channel.ts';

/** What a worker knows about a carrier of any kind. */
export interface CarrierFacts {
  id: number;
  key: string;
  account: string;
  name: string;
  /** Absent: `sms` alone. */
  channels?: readonly SendingChannel[] | undefined;
  /** The token in the URLs of its callbacks; null if it has no callbacks. */
  callbackToken: string | null;
  /** Rises with each change of settings, and when it is paused or resumed. */
  version: number;
  generation: number;
  paused: boolean;
  /** The worker writes its log when this is newer than its last log. */
  logWantedAtMs: number | null;
  /** When an operator last asked for a connection attempt. The worker tries at once when this changes. */
  tryWantedAtMs: number | null;
  /** A test waits for a worker: `claimTest` takes it. */
  testWaiting: boolean;
}
