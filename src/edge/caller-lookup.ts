import type { KnownCaller } from '../http/admission.ts';
import type { Api, Developer } from '../http/route.ts';
import type { OwnedText } from '../platform/owned-text.ts';

/** What the edge asks about one kind of credential: API keys, access tokens, or Twilio-compatible sids. */
export interface CallerLookup {
  isWellFormed(text: string): boolean;
  /** Whether we can have issued it and it can still be valid. Decided by a hash, without a lookup. */
  isPlausible(text: string): boolean;
  /** Cheap: the owner; null for a credential known to be invalid; undefined for "look it up". */
  remembered(text: OwnedText): KnownCaller | null | undefined;
  /** Whether an application had it at the last lookup: such a caller is not charged as unknown. */
  wasKnown(text: OwnedText): boolean;
  /** Of an invalid credential: whether its owner can enable it. Only says why it was refused. */
  isSuspended?(text: OwnedText): boolean;
  /** Of an invalid credential: whether it is right, and its application is not registered for the API. */
  isUnregistered?(text: OwnedText): boolean;
  /** Costs a query, and for a token a signature check. */
  lookUp(text: OwnedText): Promise<KnownCaller | null>;
}

/** The application of an account as the caller of an API. Rejects with the reason for which it cannot call. */
export type FindOwnCaller = (accountId: string, applicationId: string, api: Api) => Promise<KnownCaller>;

export type FindSession = (token: string) => Promise<Omit<Developer, 'kind'> | undefined>;
