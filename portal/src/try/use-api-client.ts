import type { ApiName, ApplicationDetail } from '../api/types.ts';
import { readPageState, usePageState, writePageState } from '../session/page-state.ts';
import type { Secrets } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { words } from '../words/try.tsx';
import { bodyOf, type Exchange, sendRequest } from './exchange.ts';

interface Token {
  value: string;
  /** A token issued for an older secret may be revoked. */
  clientSecret: string;
  untilMs: number;
}

const mostExchanges = 12;
/** Renew a token early, so that it does not expire in flight. */
const marginMs = 5000;

export interface ApiClient {
  exchanges: Exchange[];
  send: (api: ApiName, title: string, path: string, body: object) => Promise<Exchange>;
}

/** Calls the three APIs as the developer's own program would, and records each request and response. */
export function useApiClient(application: ApplicationDetail, secrets: Secrets): ApiClient {
  const { service } = useSession();
  const [exchanges, updateExchanges] = usePageState<Exchange[]>(`exchanges-${application.id}`, []);

  const tokenKey = (api: ApiName) => `token-${application.id}-${api}`;

  function record(exchange: Exchange): Exchange {
    updateExchanges((before) => [exchange, ...before].slice(0, mostExchanges));
    return exchange;
  }

  async function send(api: ApiName, title: string, path: string, body: object): Promise<Exchange> {
    const json = { 'Content-Type': 'application/json' };
    const request = { method: 'POST', path, body: JSON.stringify(body, null, 2) };
    if (api === 'sms') {
      const headers = { apikey: secrets.apiKey, ...json };
      return record(await sendRequest(title, { ...request, headers }, [secrets.apiKey]));
    }
    const token = await findToken(api);
    if (typeof token !== 'string') return token;
    const headers = { Authorization: `Bearer ${token}`, ...json };
    const exchange = record(await sendRequest(title, { ...request, headers }, [token]));
    // Drop a refused token: the next call gets a new one.
    if (exchange.answer?.status === 401) writePageState(tokenKey(api), null);
    return exchange;
  }

  /** Returns a valid token, or the failed exchange of the token request. */
  async function findToken(api: 'verify' | 'messaging'): Promise<string | Exchange> {
    const known = readPageState<Token | null>(tokenKey(api), null);
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
    const exchange = await sendRequest(words.getToken, request, [secrets.clientSecret]);
    const answer = exchange.answer && bodyOf<{ access_token?: string; expires_in?: number }>(exchange.answer);
    if (!answer?.access_token) return record(exchange);
    record({ ...exchange, secrets: [...exchange.secrets, answer.access_token] });
    const untilMs = Date.now() + (answer.expires_in ?? 0) * 1000 - marginMs;
    writePageState(tokenKey(api), {
      value: answer.access_token,
      clientSecret: secrets.clientSecret,
      untilMs,
    } satisfies Token);
    return answer.access_token;
  }

  return { exchanges, send };
}
