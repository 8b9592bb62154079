import type { Meter } from '../http/gate.ts';
import type { CallingApplication, Developer } from '../http/route.ts';
import type { Limits } from './sliding-window.ts';
import type { OwnWindow } from './windows.ts';

/**
 * The owner of a credential, with its limits, window and meter. Only the registry knows plans, and the edge needs no
 * further lookup.
 */
export interface Found {
  caller: CallingApplication;
  limits: Limits;
  /** The scopes of a token; undefined for an API key. */
  scopes: string[] | undefined;
  window: OwnWindow;
  meter: Meter;
}

/**
 * What the edge asks about one kind of credential. `remembered` is cheap: the owner, null for a credential known to be
 * invalid, or undefined for "look it up", which costs a signature check or a query.
 */
export interface FindCaller {
  isWellFormed(text: string): boolean;
  /** Whether we can have issued it and it can still be valid. Decided by a hash, without a lookup. */
  isPlausible(text: string): boolean;
  remembered(text: string): Found | null | undefined;
  /** Whether it was valid at the last lookup: a caller admitted before is not charged as unknown. */
  wasGood(text: string): boolean;
  lookUp(text: string): Promise<Found | null>;
}

export type FindSession = (token: string) => Promise<Omit<Developer, 'kind'> | undefined>;
