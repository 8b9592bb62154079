import type { Admission, Arrival, Gateway } from '../http/admission.ts';
import type { Auth, Caller } from '../http/route.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import type { AddressLimits } from './address-limits.ts';
import { admitted, anonymous, asRefusal, limited, refused, whenDecided } from './admit-or-refuse.ts';
import { type ApplicationAccess, readCredential } from './application-access.ts';
import type { FindOwnCaller, FindSession } from './caller-lookup.ts';
import { createCredentialWatch, type FindOpenSessions } from './credential-watch.ts';
import { readBasic, readCookie, signInFirst } from './credentials.ts';
import { limitRefusal } from './limit-refusal.ts';
import { type MetricsAccess, refuseMetrics } from './metrics-access.ts';
import { type PortalAuth, refuseRole } from './roles.ts';
import { refuseCrossSite } from './same-site.ts';

export interface GatewayOptions {
  applications: ApplicationAccess;
  findSession: FindSession;
  findOpenSessions: FindOpenSessions;
  findOwnCaller: FindOwnCaller;
  sessionCookie: string;
  /** Binds an attempt of single sign-on to its browser. */
  attemptCookie: string;
  /** For unknown credentials and the portal. */
  addresses: AddressLimits;
  /** Separate ones for the identity provider, so token requests and the portal do not share a budget. */
  identityAddresses: AddressLimits;
  /** The credential that unknown paths of each API need, so that 401 comes before 404. */
  apis: { prefix: string; auth: Auth | Auth[] }[];
  metrics: MetricsAccess;
  /** Whether a path has the token of a carrier that this node knows. */
  isCallback?: (path: string) => boolean;
  publicUrl: string;
  /** Whether operators must sign in with a second factor. */
  operatorsNeedSecondFactor: boolean;
}

const open: Auth = { kind: 'none' };

/**
 * Every request passes here first: identify the caller, check the limits (429), then 401, then 403. Every outcome has a
 * limit decision, and so every answer has limit headers.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { applications, findSession, addresses, identityAddresses, apis } = options;
  const watch = createCredentialWatch(options.findOpenSessions);
  const publicOrigin = new URL(options.publicUrl).origin;

  function authOf(arrival: Arrival): Auth {
    const { route, path } = arrival;
    const api = route ?? apis.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    const auth = api?.auth ?? open;
    return Array.isArray(auth) ? choose(auth, arrival) : auth;
  }

  /** A call from the portal's forms: admitted like any call of the portal, then by the limits of the registration. */
  async function admitTry(arrival: Arrival, auth: PortalAuth & { kind: 'try' }): Promise<Admission> {
    const admission = await admitVisitor(arrival, auth);
    const { caller, decision, refusal } = admission;
    if (refusal !== undefined || caller.kind !== 'developer') return admission;
    const { application_id: id = '' } = arrival.params;
    const found = await options.findOwnCaller(caller.accountId, id, auth.api).catch(asRefusal);
    return found instanceof ApiError ? refused(caller, decision, found) : applications.admitFound(arrival, found);
  }

  async function admitVisitor(arrival: Arrival, auth: PortalAuth): Promise<Admission> {
    const decision = await addresses.charge(arrival);
    if (!decision.admitted) return limited(anonymous, decision);
    const crossSite = refuseCrossSite(arrival.method, arrival.headers, publicOrigin);
    if (crossSite !== undefined) return refused(anonymous, decision, crossSite);
    if (auth.kind === 'visitor' && auth.session !== true) return admitted(anonymous, decision);
    const token = readCookie(arrival.headers.cookie, options.sessionCookie);
    const session = token === undefined ? undefined : await findSession(token).catch(asRefusal);
    if (session instanceof ApiError) return refused(anonymous, decision, session);
    // Operators' routes answer 404 to all other callers.
    if (auth.kind === 'operator' && session?.operator !== true) return refused(anonymous, decision, notFound());
    if (session === undefined && auth.kind === 'visitor') return admitted(anonymous, decision);
    if (session === undefined) return refused(anonymous, decision, signInFirst());
    const caller: Caller = { kind: 'developer', ...session };
    const refusal = refuseRole(auth, arrival.method, caller, options);
    if (refusal !== undefined) return refused(caller, decision, refusal);
    const admission = admitted(caller, decision);
    // The test of a hook sends a code, which counts on the registration like a call of the hook.
    return auth.kind === 'developer' ? chargeable(arrival, admission) : admission;
  }

  function admitClient(arrival: Arrival): Admission | Promise<Admission> {
    const caller: Caller = { kind: 'client', basic: readBasic(arrival) };
    return whenDecided(identityAddresses.charge(arrival), (decision) =>
      decision.admitted ? admitted(caller, decision) : limited(anonymous, decision),
    );
  }

  async function admitReturning(arrival: Arrival): Promise<Admission> {
    const decision = await addresses.charge(arrival);
    if (!decision.admitted) return limited(anonymous, decision);
    const { cookie } = arrival.headers;
    const token = readCookie(cookie, options.sessionCookie);
    const session = token === undefined ? undefined : await findSession(token).catch(asRefusal);
    if (session instanceof ApiError) return refused(anonymous, decision, session);
    const attempt = readCookie(cookie, options.attemptCookie);
    return admitted({ kind: 'returning', attempt, sessionHash: session?.sessionHash }, decision);
  }

  /** Charges nothing. The headers show the state of the caller's address. */
  function admitOpen(arrival: Arrival, refusal?: ApiError): Admission | Promise<Admission> {
    return whenDecided(addresses.peek(arrival.address), (decision) =>
      refusal === undefined ? admitted(anonymous, decision) : refused(anonymous, decision, refusal),
    );
  }

  /** Providers are not limited; callers that guess tokens are, by address. A new carrier's token reaches this node later. */
  function admitCallback(arrival: Arrival): Admission | Promise<Admission> {
    if (options.isCallback?.(arrival.path)) return admitOpen(arrival);
    return whenDecided(addresses.charge(arrival), (decision) =>
      decision.admitted ? admitted(anonymous, decision) : limited(anonymous, decision),
    );
  }

  /** A hook's proof covers its body, so its handler charges. Until then the headers show the state of the address. */
  function admitHook(arrival: Arrival): Admission | Promise<Admission> {
    return whenDecided(addresses.peek(arrival.address), (standing) =>
      chargeable(arrival, admitted(anonymous, standing)),
    );
  }

  /** The handler may charge the request to a registration, or to the address. */
  function chargeable(arrival: Arrival, admission: Admission): Admission {
    admission.charge = async (proved) => {
      const decision = await (proved === undefined ? addresses.charge(arrival) : applications.decide(arrival, proved));
      Object.assign(admission, { decision, caller: proved?.caller ?? anonymous, counted: proved !== undefined });
      const refusal = decision.admitted ? undefined : limitRefusal(decision);
      return { retryAfterMs: decision.retryAfterMs, refusal };
    };
    return admission;
  }

  /** A stream can last for hours, a waiting request half a minute: they must end with their credential. */
  function watched(arrival: Arrival, auth: Auth, admission: Admission): Admission {
    const { caller } = admission;
    if (caller.kind === 'developer') {
      admission.onCredentialEnd = (act) => watch.session(caller.sessionHash, act);
    } else if (auth.kind === 'apikey' || auth.kind === 'bearer') {
      const text = readCredential(arrival, auth);
      const lookup = applications.lookupFor(auth);
      if (!(text instanceof ApiError)) admission.onCredentialEnd = (act) => watch.application(lookup, text, act);
    }
    return admission;
  }

  function decide(arrival: Arrival, auth: Auth): Admission | Promise<Admission> {
    switch (auth.kind) {
      case 'apikey':
      case 'bearer':
      case 'sid':
        return applications.admit(arrival, auth);
      case 'visitor':
      case 'person':
      case 'developer':
      case 'operator':
        return admitVisitor(arrival, auth);
      case 'try':
        return admitTry(arrival, auth);
      case 'client':
        return admitClient(arrival);
      case 'returning':
        return admitReturning(arrival);
      case 'metrics':
        return admitOpen(arrival, refuseMetrics(options.metrics, arrival.headers.authorization, arrival.address));
      case 'callback':
        return admitCallback(arrival);
      case 'hook':
        return admitHook(arrival);
      case 'none':
        return admitOpen(arrival);
    }
  }

  return {
    admit(arrival) {
      const auth = authOf(arrival);
      const admission = decide(arrival, auth);
      const { route } = arrival;
      if (route?.stream !== true && route?.waits !== true) return admission;
      return Promise.resolve(admission).then((made) => watched(arrival, auth, made));
    },
    giveBack: applications.giveBack,
    peek: addresses.peek,
  };
}

/** For a route that accepts several kinds, picks the kind that the caller sent. */
function choose(auths: Auth[], { headers }: Arrival): Auth {
  const sent = (kind: Auth['kind']) => {
    if (kind === 'apikey') return headers.apikey !== undefined;
    return kind === 'bearer' ? headers.authorization !== undefined : headers.cookie !== undefined;
  };
  return auths.find(({ kind }) => sent(kind)) ?? auths[0] ?? open;
}
