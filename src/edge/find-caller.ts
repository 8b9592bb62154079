import type { Meter } from '../http/gate.ts';
import type { CallingApplication, Developer } from '../http/route.ts';
import type { Limits } from './sliding-window.ts';
import type { OwnWindow } from './windows.ts';

/**
 * Whom a credential belongs to. A caller carries its limits, so that only the registry knows plans, and with them where it
 * is counted: once it is found, nothing is looked up again.
 */
export interface Found {
  caller: CallingApplication;
  limits: Limits;
  /** What a token was issued for; undefined for an API key, which has no scopes. */
  scopes: string[] | undefined;
  window: OwnWindow;
  meter: Meter;
}

/**
 * What the edge needs to know of a kind of credential, without knowing how it is kept. `remembered` costs nothing: the
 * owner, null for one known to be dead, undefined for "look it up", which costs a signature check or a query.
 */
export interface FindCaller {
  isWellFormed(text: string): boolean;
  /** Whether we can have made it and it can still be alive; decided by a hash, without looking anything up. */
  isPlausible(text: string): boolean;
  remembered(text: string): Found | null | undefined;
  /** Whether it was good when it was last looked up: somebody who was let in before is no stranger. */
  wasGood(text: string): boolean;
  lookUp(text: string): Promise<Found | null>;
}

export type FindSession = (token: string) => Promise<Omit<Developer, 'kind'> | undefined>;
