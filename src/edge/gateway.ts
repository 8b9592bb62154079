import type { Admission, Arrival, Gate } from '../http/gate.ts';
import type { Auth, Caller } from '../http/route.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { ownCopy } from '../platform/own-copy.ts';
import { addressKey } from './address-key.ts';
import { createCredentialWatch, type FindOpenSessions } from './credential-watch.ts';
import {
  deadKey,
  deadToken,
  malformedKey,
  malformedToken,
  missingScope,
  readApiKey,
  readBasic,
  readBearer,
  readCookie,
  signInFirst,
} from './credentials.ts';
import type { FindCaller, FindSession, Found } from './find-caller.ts';
import { limitLines, refusalMessage } from './limit-headers.ts';
import { type MetricsAccess, refuseMetrics } from './metrics-access.ts';
import { refuseCrossSite } from './same-site.ts';
import type { Decision, Limits } from './sliding-window.ts';
import type { LocalWindows } from './windows.ts';

export interface GatewayOptions {
  findKey: FindCaller;
  findToken: FindCaller;
  findSession: FindSession;
  findOpenSessions: FindOpenSessions;
  sessionCookie: string;
  /** Windows per address, for unknown credentials and the portal. */
  addresses: LocalWindows;
  /** Separate windows per address for the identity provider, so token requests and the portal do not share a budget. */
  identityAddresses: LocalWindows;
  addressLimits: Limits;
  /** The credential that unknown paths of each API need, so that 401 comes before 404. */
  apis: { prefix: string; auth: Auth }[];
  metrics: MetricsAccess;
  publicUrl: string;
}

const anonymous: Caller = { kind: 'anonymous' };
const open: Auth = { kind: 'none' };

/**
 * Every request passes here first: identify the caller, check the limits (429), then 401, then 403. Every outcome has a
 * limit decision, and so every response has limit headers.
 */
export function createGateway(options: GatewayOptions): Gate {
  const { findKey, findToken, findSession, addresses, identityAddresses, addressLimits, apis } = options;
  const watch = createCredentialWatch(options.findOpenSessions);
  const publicOrigin = new URL(options.publicUrl).origin;

  function authOf(arrival: Arrival): Auth {
    const { route, path } = arrival;
    if (route !== undefined) return Array.isArray(route.auth) ? choose(route.auth, arrival) : route.auth;
    const api = apis.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    return api?.auth ?? open;
  }

  /** For a route that accepts several kinds, picks the kind that the caller sent. */
  function choose(auths: Auth[], { headers }: Arrival): Auth {
    const sent = (kind: Auth['kind']) => {
      if (kind === 'apikey') return headers.apikey !== undefined;
      return kind === 'bearer' ? headers.authorization !== undefined : headers.cookie !== undefined;
    };
    return auths.find(({ kind }) => sent(kind)) ?? auths[0] ?? open;
  }

  function admitApplication(
    arrival: Arrival,
    auth: Auth & { kind: 'apikey' | 'bearer' },
  ): Admission | Promise<Admission> {
    const isKey = auth.kind === 'apikey';
    const find = isKey ? findKey : findToken;
    const text = isKey ? readApiKey(arrival) : readBearer(arrival);
    // A missing or unreadable credential is refused without a lookup, and charges nothing.
    if (typeof text !== 'string') return uncounted(arrival, text);
    // Check the cache first: cached credentials are well-formed, and a cache hit costs less than the form check.
    const found = find.remembered(text);
    if (found === null) return uncounted(arrival, dead(auth));
    if (found !== undefined) return admitKnown(arrival, auth, found);
    if (find.wasGood(text)) return lookUpAgain(arrival, auth, find, text);
    if (!find.isWellFormed(text)) return uncounted(arrival, isKey ? malformedKey(text) : malformedToken(text));
    // A made-up credential charges nothing, so it cannot use up the budget of others at the same address.
    if (!find.isPlausible(text)) return uncounted(arrival, dead(auth));
    return admitUnknown(arrival, auth, find, text);
  }

  /** An unknown credential must get budget from its address before we check a signature or query the database. */
  function admitUnknown(arrival: Arrival, auth: Auth, find: FindCaller, text: string): Admission | Promise<Admission> {
    const decision = charge(addresses, arrival);
    if (!decision.admitted) return limited(anonymous, decision);
    return find.lookUp(text).then(
      (found) =>
        found === null ? refused(anonymous, decision, dead(auth)) : admitKnown(arrival, auth, found, decision),
      (error) => refused(anonymous, decision, asRefusal(error)),
    );
  }

  /** Something changed, or the database is away and this node cannot follow changes: do not charge the address. */
  async function lookUpAgain(arrival: Arrival, auth: Auth, find: FindCaller, text: string): Promise<Admission> {
    const found = await find.lookUp(text).catch(asRefusal);
    if (found instanceof ApiError) return uncounted(arrival, found);
    return found === null ? uncounted(arrival, dead(auth)) : admitKnown(arrival, auth, found);
  }

  /** `byAddress` is the decision if this request already charged its address. */
  function admitKnown(
    arrival: Arrival,
    auth: Auth,
    found: Found,
    byAddress?: Decision,
  ): Admission | Promise<Admission> {
    if (arrival.route?.limitedBy === 'address')
      return admitWithin(found, auth, byAddress ?? charge(addresses, arrival));
    // Await only a promise: the in-memory windows decide synchronously, so the usual request does not wait.
    const decision = found.window.decide(found.limits, arrival.informedAtMs);
    return decision instanceof Promise
      ? decision.then((made) => admitCounted(found, auth, made))
      : admitCounted(found, auth, decision);
  }

  function admitCounted(found: Found, auth: Auth, decision: Decision): Admission {
    // Metering counts every decision, at the moment it is made.
    found.meter.count(decision.admitted);
    const admission = admitWithin(found, auth, decision);
    admission.decision = decision;
    admission.meter = found.meter;
    return admission;
  }

  function admitWithin({ caller, scopes }: Found, auth: Auth, decision: Decision): Admission {
    if (!decision.admitted) return limited(caller, decision);
    if (auth.kind === 'bearer' && auth.scope !== undefined && scopes?.includes(auth.scope) !== true) {
      return refused(caller, decision, missingScope[auth.scope]);
    }
    return admitted(caller, decision);
  }

  async function admitVisitor(arrival: Arrival, kind: 'visitor' | 'developer' | 'operator'): Promise<Admission> {
    const decision = charge(addresses, arrival);
    if (!decision.admitted) return limited(anonymous, decision);
    const crossSite = refuseCrossSite(arrival.method, arrival.headers, publicOrigin);
    if (crossSite !== undefined) return refused(anonymous, decision, crossSite);
    if (kind === 'visitor') return admitted(anonymous, decision);
    const token = readCookie(arrival.headers.cookie, options.sessionCookie);
    const session = token === undefined ? undefined : await findSession(token).catch(asRefusal);
    if (session instanceof ApiError) return refused(anonymous, decision, session);
    // Operators' routes answer 404 to all other callers.
    if (kind === 'operator' && session?.operator !== true) return refused(anonymous, decision, notFound());
    if (session === undefined) return refused(anonymous, decision, signInFirst());
    return admitted({ kind: 'developer', ...session }, decision);
  }

  function admitClient(arrival: Arrival): Admission {
    const caller: Caller = { kind: 'client', basic: readBasic(arrival) };
    const decision = charge(identityAddresses, arrival);
    return decision.admitted ? admitted(caller, decision) : limited(anonymous, decision);
  }

  /** Charges nothing. The headers show the state of the caller's address. */
  function uncounted(arrival: Arrival, refusal?: ApiError): Admission {
    const decision = addresses.peek(addressKey(arrival.address), addressLimits);
    return refusal === undefined ? admitted(anonymous, decision) : refused(anonymous, decision, refusal);
  }

  function charge(windows: LocalWindows, arrival: Arrival): Decision {
    return windows.decide(addressKey(arrival.address), addressLimits, arrival.informedAtMs);
  }

  /** A stream can last for hours: it must end with the credential that opened it. */
  function watched(arrival: Arrival, auth: Auth, admission: Admission): Admission {
    const { caller } = admission;
    if (caller.kind === 'developer') {
      admission.onCredentialEnd = (act) => watch.session(caller.sessionHash, act);
    } else if (caller.kind === 'application') {
      const isKey = auth.kind === 'apikey';
      const text = isKey ? readApiKey(arrival) : readBearer(arrival);
      const own = typeof text === 'string' ? ownCopy(text) : '';
      admission.onCredentialEnd = (act) => watch.application(isKey ? findKey : findToken, own, act);
    }
    return admission;
  }

  function decide(arrival: Arrival, auth: Auth): Admission | Promise<Admission> {
    switch (auth.kind) {
      case 'apikey':
      case 'bearer':
        return admitApplication(arrival, auth);
      case 'visitor':
      case 'developer':
      case 'operator':
        return admitVisitor(arrival, auth.kind);
      case 'client':
        return admitClient(arrival);
      case 'metrics':
        return uncounted(arrival, refuseMetrics(options.metrics, arrival.headers.authorization, arrival.address));
      case 'none':
        return uncounted(arrival);
    }
  }

  return {
    admit(arrival) {
      const auth = authOf(arrival);
      const admission = decide(arrival, auth);
      if (arrival.route?.stream !== true) return admission;
      return Promise.resolve(admission).then((made) => watched(arrival, auth, made));
    },

    linesForUnreadable: (address) => limitLines(addresses.peek(addressKey(address), addressLimits)),
  };
}

/** One refusal per message, reused: creating them took a tenth of the work in a flood. */
const limitRefusals = createBoundedMap<string, ApiError>(1000);

function limited(caller: Caller, decision: Decision): Admission {
  const message = refusalMessage(decision);
  let refusal = limitRefusals.get(message);
  if (refusal === undefined) {
    refusal = new ApiError('RATE_LIMITED', message);
    limitRefusals.set(message, refusal);
  }
  return refused(caller, decision, refusal);
}

function admitted(caller: Caller, decision: Decision): Admission {
  return { caller, limitLines: limitLines(decision), refusal: undefined, decision: undefined, meter: undefined };
}

function refused(caller: Caller, decision: Decision, refusal: ApiError): Admission {
  return { caller, limitLines: limitLines(decision), refusal, decision: undefined, meter: undefined };
}

function dead({ kind }: Auth): ApiError {
  return kind === 'apikey' ? deadKey : deadToken;
}

/** Tells the caller that the database is away, instead of treating it as unknown. */
function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}
