/** What a worker knows of a carrier that it runs, whatever its kind. */
export interface CarrierFacts {
  id: number;
  key: string;
  account: string;
  name: string;
  /** In the addresses of its callbacks; null if it has none. */
  callbackToken: string | null;
  /** Rises with each change of settings, and when it is paused or resumed. */
  version: number;
  generation: number;
  paused: boolean;
  /** The log is to be written when this is newer than the last one written. */
  logWantedAtMs: number | null;
  /** An operator wants the next try to connect at once, each time this is newer. */
  tryWantedAtMs: number | null;
  /** A test waits for a worker: `claimTest` takes it. */
  testWaiting: boolean;
}
