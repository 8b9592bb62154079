import type { Admission, Arrival, Gate } from '../http/gate.ts';
import type { Auth, Developer } from '../http/route.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { refuseMetrics } from './metrics-access.ts';
import { refuseCrossSite } from './same-site.ts';

export interface GatewayOptions {
  metricsToken: string | undefined;
  publicUrl: string;
  sessionCookie: string;
  findSession: FindSession;
}

export type FindSession = (token: string) => Promise<Omit<Developer, 'kind'> | undefined>;

/** The line every request goes along before anything behind it runs. */
export function createGateway(options: GatewayOptions): Gate {
  const { metricsToken, sessionCookie, findSession } = options;
  const publicOrigin = new URL(options.publicUrl).origin;
  const anonymous: Admission = { caller: { kind: 'anonymous' }, limitHeaders: {} };

  async function admitDeveloper(arrival: Arrival, kind: 'developer' | 'operator'): Promise<Admission> {
    const token = cookieOf(arrival.headers.cookie, sessionCookie);
    const session = token === undefined ? undefined : await findSession(token);
    if (kind === 'operator' && session?.operator !== true) return { ...anonymous, refusal: notFound() };
    if (session === undefined) return { ...anonymous, refusal: signInFirst() };
    return { ...anonymous, caller: { kind: 'developer', ...session } };
  }

  return {
    admit(arrival) {
      const kinds = [arrival.route?.auth ?? { kind: 'none' as const }].flat().map(({ kind }: Auth) => kind);
      const [kind] = kinds;
      if (kind === 'metrics') {
        const refusal = refuseMetrics(metricsToken, arrival.headers.authorization, arrival.address);
        return refusal === undefined ? anonymous : { ...anonymous, refusal };
      }
      if (kind === 'visitor' || kind === 'developer' || kind === 'operator') {
        const refusal = refuseCrossSite(arrival.method, arrival.headers, publicOrigin);
        if (refusal !== undefined) return { ...anonymous, refusal };
        if (kind !== 'visitor') return admitDeveloper(arrival, kind);
      }
      return anonymous;
    },
    headersForUnreadable: () => ({}),
  };
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

function signInFirst(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Sign in first: POST /portal/v1/sessions.', {
    headers: { 'WWW-Authenticate': 'Session realm="heliograph"' },
  });
}
