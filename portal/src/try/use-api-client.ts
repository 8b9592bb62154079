import { applicationPath } from '../api/call.ts';
import type { ApiName, ApplicationDetail } from '../api/types.ts';
import { usePageState } from '../session/page-state.ts';
import { useSecrets } from '../session/secrets.ts';
import { useSession } from '../session/session.tsx';
import { words } from '../words/try.tsx';
import { type Exchange, sendRequest } from './exchange.ts';

const mostExchanges = 12;

export interface ApiClient {
  exchanges: Exchange[];
  send: (api: ApiName, title: string, path: string, body: object) => Promise<Exchange>;
}

/**
 * Calls the three APIs by the session, and records each request and response. A request is shown as the developer's own
 * program would send it: with a key or a token.
 */
export function useApiClient(application: ApplicationDetail): ApiClient {
  const { account, expire } = useSession();
  const [{ apiKey }] = useSecrets(application.id);
  const [exchanges, updateExchanges] = usePageState<Exchange[]>(`exchanges-${application.id}`, []);

  async function send(api: ApiName, title: string, path: string, body: object): Promise<Exchange> {
    const credential: Record<string, string> =
      api === 'sms'
        ? { apikey: apiKey === '' ? words.exchange.yourKey : apiKey }
        : { Authorization: `Bearer ${words.exchange.yourToken}` };
    const headers = { ...credential, 'Content-Type': 'application/json' };
    const request = { method: 'POST', path, headers, body: JSON.stringify(body, null, 2) };
    const via = applicationPath(application.id, `/try${path}`);
    const exchange = await sendRequest(title, request, [apiKey], { via });
    if (exchange.answer?.status === 401 && account !== null) expire();
    updateExchanges((before) => [exchange, ...before].slice(0, mostExchanges));
    return exchange;
  }

  return { exchanges, send };
}
