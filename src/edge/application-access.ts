import type { Admission, Arrival, KnownCaller, LimitDecision } from '../http/admission.ts';
import type { Auth, ProvedCaller, SidApi } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import type { AddressLimits } from './address-limits.ts';
import { admitted, anonymous, asRefusal, limited, refused, whenDecided } from './admit-or-refuse.ts';
import type { CallerLookup } from './caller-lookup.ts';
import {
  deadKey,
  deadSid,
  deadToken,
  malformedKey,
  malformedSid,
  malformedToken,
  missingScope,
  readApiKey,
  readBearer,
  readSid,
  suspendedKey,
  unregisteredSid,
} from './credentials.ts';
import type { Windows } from './windows.ts';

/** The credentials of applications. */
export type ApplicationAuth = Auth & { kind: 'apikey' | 'bearer' | 'sid' };

export interface ApplicationAccessOptions {
  keys: CallerLookup;
  tokens: CallerLookup;
  /** Twilio-compatible credentials, for each API. */
  sids: Record<SidApi, CallerLookup>;
  /** The windows of registrations. */
  registrations: Windows;
  addresses: AddressLimits;
}

/** Admits applications: finds the owner of the credential and applies the limits of its registration. */
export interface ApplicationAccess {
  admit(arrival: Arrival, auth: ApplicationAuth): Admission | Promise<Admission>;
  /** Applies the limits of a registration to a caller that was found without a credential. */
  admitFound(arrival: Arrival, known: KnownCaller): Admission | Promise<Admission>;
  lookupFor(auth: ApplicationAuth): CallerLookup;
  /** Charges the registration of a caller who has proved itself. */
  decide(arrival: Arrival, proved: ProvedCaller): LimitDecision | Promise<LimitDecision>;
  /** The registration gets back the slot of a request that was not served. */
  giveBack(admission: Admission): LimitDecision | Promise<LimitDecision>;
}

export function createApplicationAccess(options: ApplicationAccessOptions): ApplicationAccess {
  const { keys, tokens, sids, registrations, addresses } = options;

  function admit(arrival: Arrival, auth: ApplicationAuth): Admission | Promise<Admission> {
    const text = readCredential(arrival, auth);
    // A missing or unreadable credential is refused without a lookup, and charges nothing.
    if (text instanceof ApiError) return uncharged(arrival, text);
    const lookup = lookupFor(auth);
    // Check the cache first: cached credentials are well-formed, and a cache hit costs less than the form check.
    const known = lookup.remembered(text);
    if (known === null) return uncharged(arrival, dead(auth, text));
    if (known !== undefined) return admitKnown(arrival, auth, known);
    if (lookup.wasKnown(text)) return lookUpAgain(arrival, auth, text);
    if (!lookup.isWellFormed(text)) return uncharged(arrival, malformed(auth, text));
    // A made-up credential charges nothing, so it cannot use up the budget of others at the same address.
    if (!lookup.isPlausible(text)) return uncharged(arrival, dead(auth, text));
    return admitUnknown(arrival, auth, text);
  }

  function lookupFor(auth: ApplicationAuth): CallerLookup {
    if (auth.kind === 'sid') return sids[auth.api];
    return auth.kind === 'apikey' ? keys : tokens;
  }

  /**
   * An unknown credential must get budget from its address before we check a signature or query the database. It needs it
   * once: the requests that arrive with it meanwhile share the lookup.
   */
  function admitUnknown(arrival: Arrival, auth: ApplicationAuth, text: OwnedText): Admission | Promise<Admission> {
    return whenDecided(addresses.chargeCredential(arrival, text), (decision) => {
      if (!decision.admitted) return limited(anonymous, decision);
      return lookupFor(auth)
        .lookUp(text)
        .then(
          (known) =>
            known === null
              ? refused(anonymous, decision, dead(auth, text))
              : admitKnown(arrival, auth, known, decision),
          (error) => refused(anonymous, decision, asRefusal(error)),
        );
    });
  }

  /** Something changed, or the database is away and this node cannot follow changes: do not charge the address. */
  async function lookUpAgain(arrival: Arrival, auth: ApplicationAuth, text: OwnedText): Promise<Admission> {
    const known = await lookupFor(auth).lookUp(text).catch(asRefusal);
    if (known instanceof ApiError) return uncharged(arrival, known);
    return known === null ? uncharged(arrival, dead(auth, text)) : admitKnown(arrival, auth, known);
  }

  function dead(auth: ApplicationAuth, text: OwnedText): ApiError {
    if (auth.kind === 'bearer') return deadToken;
    if (auth.kind === 'sid') return sids[auth.api].isUnregistered?.(text) === true ? unregisteredSid : deadSid;
    return keys.isSuspended?.(text) === true ? suspendedKey : deadKey;
  }

  /** `byAddress` is the decision of its address, which may have charged this request already. */
  function admitKnown(
    arrival: Arrival,
    auth: ApplicationAuth,
    known: KnownCaller,
    byAddress?: LimitDecision,
  ): Admission | Promise<Admission> {
    if (arrival.route?.limitedBy === 'address') {
      const decision = byAddress?.chargedAtMs === undefined ? addresses.charge(arrival) : byAddress;
      return whenDecided(decision, (made) => admitWithin(known, auth, made, false));
    }
    return whenDecided(decide(arrival, known), (made) => admitWithin(known, auth, made, true));
  }

  function decide({ informedAtMs }: Arrival, { caller, limits }: ProvedCaller): LimitDecision | Promise<LimitDecision> {
    return registrations.decide(caller.windowKey, limits, informedAtMs);
  }

  function admitFound(arrival: Arrival, known: KnownCaller): Admission | Promise<Admission> {
    const { caller } = known;
    return whenDecided(decide(arrival, known), (made) =>
      made.admitted ? admitted(caller, made, true) : limited(caller, made, true),
    );
  }

  function uncharged(arrival: Arrival, refusal: ApiError): Admission | Promise<Admission> {
    return whenDecided(addresses.peek(arrival.address), (standing) => refused(anonymous, standing, refusal));
  }

  function giveBack({ caller, counted, decision }: Admission): LimitDecision | Promise<LimitDecision> {
    const isCharged = counted && decision.admitted && caller.kind === 'application';
    return isCharged ? registrations.giveBack(caller.windowKey, decision) : decision;
  }

  return { admit, admitFound, lookupFor, decide, giveBack };
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
  if (kind === 'sid') return readSid(arrival);
  return kind === 'apikey' ? readApiKey(arrival) : readBearer(arrival);
}

function malformed({ kind }: ApplicationAuth, text: string): ApiError {
  if (kind === 'sid') return malformedSid();
  return kind === 'apikey' ? malformedKey(text) : malformedToken(text);
}
