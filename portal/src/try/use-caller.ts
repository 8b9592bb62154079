import type { ApiName, ApplicationDetail } from '../api/types.ts';
import { keep, recall, useKept } from '../session/kept.ts';
import type { Secrets } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { bodyOf, type Exchange, sendOverWire } from './wire.ts';

interface Token {
  value: string;
  /** A token of an older secret may be dead. */
  clientSecret: string;
  untilMs: number;
}

const mostExchanges = 12;
/** A token that ends on the way would only puzzle. */
const marginMs = 5000;

export interface Caller {
  exchanges: Exchange[];
  send: (api: ApiName, title: string, path: string, body: object) => Promise<Exchange>;
}

/** Calls the three APIs as the developer's own program would, and writes down what went over the wire. */
export function useCaller(application: ApplicationDetail, secrets: Secrets): Caller {
  const { service } = useSession();
  const [exchanges, keepExchanges] = useKept<Exchange[]>(`exchanges of ${application.id}`, []);

  const tokenKey = (api: ApiName) => `token of ${application.id} for ${api}`;

  function record(exchange: Exchange): Exchange {
    keepExchanges((before) => [exchange, ...before].slice(0, mostExchanges));
    return exchange;
  }

  async function send(api: ApiName, title: string, path: string, body: object): Promise<Exchange> {
    const json = { 'Content-Type': 'application/json' };
    const request = { method: 'POST', path, body: JSON.stringify(body, null, 2) };
    if (api === 'sms') {
      const headers = { apikey: secrets.apiKey, ...json };
      return record(await sendOverWire(title, { ...request, headers }, [secrets.apiKey]));
    }
    const token = await findToken(api);
    if (typeof token !== 'string') return token;
    const headers = { Authorization: `Bearer ${token}`, ...json };
    const exchange = record(await sendOverWire(title, { ...request, headers }, [token]));
    // A revoked token will not come back to life: the next call gets a new one.
    if (exchange.answer?.status === 401) keep(tokenKey(api), null);
    return exchange;
  }

  /** A token that is still good, or a new one, or the exchange that brought none. */
  async function findToken(api: 'verify' | 'messaging'): Promise<string | Exchange> {
    const known = recall<Token | null>(tokenKey(api), null);
    if (known?.clientSecret === secrets.clientSecret && known.untilMs > Date.now()) return known.value;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: application.client?.client_id ?? '',
      client_secret: secrets.clientSecret,
      scope: service.scopes[api],
    });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const path = new URL(service.token_url).pathname;
    const request = { method: 'POST', path, headers, body: form.toString() };
    const exchange = await sendOverWire('Get a token', request, [secrets.clientSecret]);
    const answer = exchange.answer && bodyOf<{ access_token?: string; expires_in?: number }>(exchange.answer);
    if (!answer?.access_token) return record(exchange);
    record({ ...exchange, secrets: [...exchange.secrets, answer.access_token] });
    const untilMs = Date.now() + (answer.expires_in ?? 0) * 1000 - marginMs;
    keep(tokenKey(api), { value: answer.access_token, clientSecret: secrets.clientSecret, untilMs } satisfies Token);
    return answer.access_token;
  }

  return { exchanges, send };
}
