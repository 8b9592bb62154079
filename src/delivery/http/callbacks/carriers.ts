import type { CarrierRow } from '../../carrier/store.ts';
import type { HttpProfile } from '../profile.ts';

/** A carrier that a provider reports to. */
export interface CallbackCarrier {
  id: number;
  name: string;
  key: string;
  account: string;
  version: number;
  token: string;
  profile: HttpProfile;
  confirmsOptOuts: boolean;
  awaitsReceipts: boolean;
}

/** The carriers with callbacks, as this node knows them. */
export interface CallbackCarriers {
  /** Replaces the known carriers by the newest rows. */
  follow(rows: readonly CarrierRow[]): void;
  /** Whether a path has the token of a known carrier. */
  knows(path: string): boolean;
  /** The carrier with this name and token, even if this node has not read it yet. */
  find(name: string, token: string): Promise<CallbackCarrier | undefined>;
}
