import { readPageState, writePageState } from '../../session/page-state.ts';
import { bodyOf, type Exchange, sendRequest } from '../../try/exchange.ts';
import { headersOf, type SampleRequest, tokenForm, urlOf } from '../samples/request.ts';

interface Token {
  value: string;
  untilMs: number;
}

/** Renew a token early, so that it does not expire in flight. */
const marginMs = 5000;

/** Sends the request to this service. Returns all exchanges, including the token request if there was one. */
export async function send(request: SampleRequest): Promise<Exchange[]> {
  const { credential, method, body, operationId } = request;
  const before: Exchange[] = [];
  const headers = Object.fromEntries(headersOf(request).filter(([name]) => name !== 'Cookie'));
  const secrets = credential.kind === 'apikey' ? [credential.apiKey] : [];
  if (credential.kind === 'token') {
    const { token, exchange } = await findToken(credential);
    if (exchange !== undefined) before.push(exchange);
    if (token === undefined) return before;
    headers.Authorization = `Bearer ${token}`;
    secrets.push(token, credential.clientSecret);
  }
  if (body?.kind === 'form') {
    headers['Content-Type'] = 'application/x-www-form-urlencoded';
    const { client_secret: secret = '' } = body.value;
    secrets.push(secret);
  }
  // The address of the page, which may not be the public one.
  const path = urlOf({ ...request, baseUrl: '' });
  const sent = { method, path, headers, body: bodyText(body) };
  const exchange = await sendRequest(operationId, sent, secrets, { withCookie: credential.kind === 'cookie' });
  if (exchange.answer?.status === 401 && credential.kind === 'token') writePageState(tokenKey(credential), null);
  return [exchange, ...before];
}

function bodyText(body: SampleRequest['body']): string {
  if (body === undefined) return '';
  return body.kind === 'json' ? JSON.stringify(body.value, null, 2) : new URLSearchParams(body.value).toString();
}

type TokenCredential = SampleRequest['credential'] & { kind: 'token' };

function tokenKey({ clientId, clientSecret, scope }: TokenCredential): string {
  return `token-${clientId}-${clientSecret}-${scope}`;
}

async function findToken(credential: TokenCredential): Promise<{ token?: string; exchange?: Exchange }> {
  const known = readPageState<Token | null>(tokenKey(credential), null);
  if (known !== null && known.untilMs > Date.now()) return { token: known.value };
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(tokenForm(credential)).toString();
  const request = { method: 'POST', path: new URL(credential.tokenUrl).pathname, headers, body };
  const exchange = await sendRequest('getToken', request, [credential.clientSecret]);
  const answer = exchange.answer && bodyOf<{ access_token?: string; expires_in?: number }>(exchange.answer);
  if (!answer?.access_token) return { exchange };
  const untilMs = Date.now() + (answer.expires_in ?? 0) * 1000 - marginMs;
  writePageState(tokenKey(credential), { value: answer.access_token, untilMs } satisfies Token);
  return { token: answer.access_token, exchange: { ...exchange, secrets: [...exchange.secrets, answer.access_token] } };
}
