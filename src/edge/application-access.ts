import type { Admission, Arrival, KnownCaller, LimitDecision } from '../http/admission.ts';
import type { Auth } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import type { AddressLimits } from './address-limits.ts';
import { admitted, anonymous, asRefusal, limited, refused } from './admit-or-refuse.ts';
import type { CallerLookup } from './caller-lookup.ts';
import {
  deadKey,
  deadToken,
  malformedKey,
  malformedToken,
  missingScope,
  readApiKey,
  readBearer,
} from './credentials.ts';
import type { Windows } from './windows.ts';

/** The credentials of applications. */
export type ApplicationAuth = Auth & { kind: 'apikey' | 'bearer' };

export interface ApplicationAccessOptions {
  keys: CallerLookup;
  tokens: CallerLookup;
  /** The windows of registrations. */
  registrations: Windows;
  addresses: AddressLimits;
}

/** Admits applications: whose credential is it, and do the limits of its registration allow the request? */
export interface ApplicationAccess {
  admit(arrival: Arrival, auth: ApplicationAuth): Admission | Promise<Admission>;
  lookupFor(auth: ApplicationAuth): CallerLookup;
}

export function createApplicationAccess(options: ApplicationAccessOptions): ApplicationAccess {
  const { keys, tokens, registrations, addresses } = options;

  function admit(arrival: Arrival, auth: ApplicationAuth): Admission | Promise<Admission> {
    const text = readCredential(arrival, auth);
    // A missing or unreadable credential is refused without a lookup, and charges nothing.
    if (text instanceof ApiError) return uncharged(arrival, text);
    const lookup = lookupFor(auth);
    // Check the cache first: cached credentials are well-formed, and a cache hit costs less than the form check.
    const known = lookup.remembered(text);
    if (known === null) return uncharged(arrival, dead(auth));
    if (known !== undefined) return admitKnown(arrival, auth, known);
    if (lookup.wasKnown(text)) return lookUpAgain(arrival, auth, text);
    if (!lookup.isWellFormed(text)) return uncharged(arrival, malformed(auth, text));
    // A made-up credential charges nothing, so it cannot use up the budget of others at the same address.
    if (!lookup.isPlausible(text)) return uncharged(arrival, dead(auth));
    return admitUnknown(arrival, auth, text);
  }

  function lookupFor({ kind }: ApplicationAuth): CallerLookup {
    return kind === 'apikey' ? keys : tokens;
  }

  /** An unknown credential must get budget from its address before we check a signature or query the database. */
  function admitUnknown(arrival: Arrival, auth: ApplicationAuth, text: OwnedText): Admission | Promise<Admission> {
    const decision = addresses.charge(arrival);
    if (!decision.admitted) return limited(anonymous, decision);
    return lookupFor(auth)
      .lookUp(text)
      .then(
        (known) =>
          known === null ? refused(anonymous, decision, dead(auth)) : admitKnown(arrival, auth, known, decision),
        (error) => refused(anonymous, decision, asRefusal(error)),
      );
  }

  /** Something changed, or the database is away and this node cannot follow changes: do not charge the address. */
  async function lookUpAgain(arrival: Arrival, auth: ApplicationAuth, text: OwnedText): Promise<Admission> {
    const known = await lookupFor(auth).lookUp(text).catch(asRefusal);
    if (known instanceof ApiError) return uncharged(arrival, known);
    return known === null ? uncharged(arrival, dead(auth)) : admitKnown(arrival, auth, known);
  }

  /** `byAddress` is the decision if this request already charged its address. */
  function admitKnown(
    arrival: Arrival,
    auth: ApplicationAuth,
    known: KnownCaller,
    byAddress?: LimitDecision,
  ): Admission | Promise<Admission> {
    if (arrival.route?.limitedBy === 'address') {
      return admitWithin(known, auth, byAddress ?? addresses.charge(arrival), false);
    }
    // Await only a promise: the in-memory windows decide synchronously, so the usual request does not wait.
    const decision = registrations.decide(known.caller.registrationId, known.limits, arrival.informedAtMs);
    return decision instanceof Promise
      ? decision.then((made) => admitWithin(known, auth, made, true))
      : admitWithin(known, auth, decision, true);
  }

  function uncharged(arrival: Arrival, refusal: ApiError): Admission {
    return refused(anonymous, addresses.peek(arrival.address), refusal);
  }

  return { admit, lookupFor };
}

/** `counted`: the registration's own limits decided. */
function admitWithin(
  { caller, scopes }: KnownCaller,
  auth: ApplicationAuth,
  decision: LimitDecision,
  counted: boolean,
): Admission {
  if (!decision.admitted) return limited(caller, decision, counted);
  if (auth.kind === 'bearer' && auth.scope !== undefined && scopes?.includes(auth.scope) !== true) {
    return refused(caller, decision, missingScope[auth.scope], counted);
  }
  return admitted(caller, decision, counted);
}

export function readCredential(arrival: Arrival, { kind }: ApplicationAuth): OwnedText | ApiError {
  return kind === 'apikey' ? readApiKey(arrival) : readBearer(arrival);
}

function dead({ kind }: ApplicationAuth): ApiError {
  return kind === 'apikey' ? deadKey : deadToken;
}

function malformed({ kind }: ApplicationAuth, text: string): ApiError {
  return kind === 'apikey' ? malformedKey(text) : malformedToken(text);
}
