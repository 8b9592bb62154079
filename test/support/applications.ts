import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { type Api, type Auth, type Call, type Route, route, type Scope } from '../../src/http/route.ts';
import { createApplication, register, signUp, type TestDeveloper } from './developer.ts';
import { exchange } from './http.ts';

export interface TestClient {
  client_id: string;
  client_secret: string;
}

/** An application with all that it was registered for. What it has no credential for is empty. */
export interface TestApplication {
  developer: TestDeveloper;
  id: string;
  apiKey: string;
  keyId: string;
  client: TestClient;
}

export interface TokenAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export interface TokenOptions {
  headers?: Record<string, string>;
  realm?: string;
}

export const verifyScope = 'openid verify:manage';
export const messagingScope = 'openid messaging:send';

export async function createRegistered(
  app: { url: string },
  apis: Api[] = ['sms', 'verify', 'messaging'],
  plan = 'free',
  developer?: TestDeveloper,
): Promise<TestApplication> {
  const owner = developer ?? (await signUp(app));
  const id = await createApplication(owner);
  const made = { developer: owner, id, apiKey: '', keyId: '', client: { client_id: '', client_secret: '' } };
  for (const api of apis) {
    const { status, body } = await register(owner, id, api, plan);
    assert.equal(status, 201);
    const credential: Record<string, string | undefined> = body.credential ?? {};
    const { api_key, id: keyId, client_id, client_secret } = credential;
    if (api_key !== undefined) Object.assign(made, { apiKey: api_key, keyId });
    if (client_id !== undefined) Object.assign(made, { client: { client_id, client_secret } });
  }
  return made;
}

/** Sends a form to an identity endpoint: `token`, `revoke` or `token/introspect`. */
export async function sendForm(
  app: { url: string },
  endpoint: string,
  form: Record<string, string> | [string, string][] | string,
  { headers = {}, realm = 'heliograph' }: TokenOptions = {},
): Promise<TokenAnswer> {
  const answer = await exchange(`${app.url}/realms/${realm}/protocol/openid-connect/${endpoint}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
  return { ...answer, body: answer.body === '' ? {} : JSON.parse(answer.body) };
}

export function askForToken(app: { url: string }, client: TestClient, scope: string): Promise<TokenAnswer> {
  return sendForm(app, 'token', { grant_type: 'client_credentials', ...client, scope });
}

export async function getToken(app: { url: string }, client: TestClient, scope: Scope): Promise<string> {
  const { status, body } = await askForToken(app, client, `openid ${scope}`);
  assert.equal(status, 200);
  return String(body.access_token);
}

export async function revokeToken(app: { url: string }, client: TestClient, token: string): Promise<void> {
  assert.equal((await sendForm(app, 'revoke', { ...client, token })).status, 200);
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

export interface EchoRoutes {
  routes: Route[];
  /** Every call that reached the service behind the edge, whole. */
  calls: Call[];
}

/** A service behind each of the three APIs, protected as the real ones are, that only notes what reaches it. */
export function createEchoRoutes(): EchoRoutes {
  const calls: Call[] = [];
  const shared = { tag: 'Test', summary: 'For tests', answers: {} } as const;
  const handler = (status: number) => (call: Call) => {
    calls.push(call);
    return { status, body: { ok: true } };
  };
  const protectedBy: [string, Auth, number][] = [
    ['/sms/v1/echo', { kind: 'apikey' }, 201],
    ['/verify/v1/echo', { kind: 'bearer', scope: 'verify:manage' }, 200],
    ['/messaging/v1/echo', { kind: 'bearer', scope: 'messaging:send' }, 200],
  ];
  const body = Type.Object({ text: Type.String() });
  const routes = protectedBy.flatMap(([path, auth, status]) => [
    route({ ...shared, method: 'POST', path, auth, body, handler: handler(status) }),
    route({ ...shared, method: 'GET', path, auth, handler: handler(200) }),
  ]);
  return { routes, calls };
}

export interface Volley {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
}

export interface PlainRequest {
  method?: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
}

/** A request many times, or as many different ones, sent ahead on a few connections: what `fetch` would take too long for. */
export async function sendMany(
  app: { port: number },
  count: number,
  request: PlainRequest | ((index: number) => PlainRequest),
): Promise<Volley[]> {
  const connections = Math.min(8, count);
  const answers = Array.from({ length: connections }, async (_, index) => {
    let bytes = '';
    for (let i = index; i < count; i += connections) {
      const each = typeof request === 'function' ? request(i) : request;
      const last = i + connections >= count;
      bytes += writeRequest(last ? { ...each, headers: { ...each.headers, Connection: 'close' } } : each);
    }
    const socket = connect({ port: app.port, host: '127.0.0.1' });
    socket.write(bytes);
    return readVolley(await text(socket));
  });
  return (await Promise.all(answers)).flat();
}

function writeRequest({ method = 'GET', path, headers }: PlainRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (method === 'POST') lines.push('Content-Length: 0\r\n');
  return `${method} ${path} HTTP/1.1\r\nHost: test\r\n${lines.join('')}\r\n`;
}

function readVolley(received: string): Volley[] {
  return received
    .split(/HTTP\/1\.1 (?=\d{3} )/)
    .slice(1)
    .map((answer) => {
      const [status = '', ...lines] = answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n');
      const headers = lines
        .map((line) => line.split(': ', 2))
        .map(([name = '', value = '']) => [name.toLowerCase(), value]);
      return { status: Number(status.slice(0, 3)), headers: Object.fromEntries(headers) };
    });
}

export function countStatuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export interface KeptConnection {
  /** Sends one request and gives the status of its answer. One at a time. */
  get(path: string, headers: Record<string, string>): Promise<number>;
  /** The same, with the headers of the answer. */
  ask(request: PlainRequest): Promise<Volley>;
  close(): void;
  /** Breaks it, as a process that ends with unread bytes does: the other side learns of it at once. */
  reset(): void;
}

/** One connection that stays open, for tests that send thousands of requests and read only the status. */
export function openKeptConnection(app: { port: number }): KeptConnection {
  const socket = connect({ port: app.port, host: '127.0.0.1', noDelay: true });
  let received = '';
  let answered = (_answer: string) => {};
  let failed = (_error: Error) => {};
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => {
    received += piece;
    const end = received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const answer = received;
    received = '';
    answered(answer);
  });
  socket.on('error', (error) => failed(error));
  const exchange = (request: PlainRequest) =>
    new Promise<string>((resolve, reject) => {
      answered = resolve;
      failed = reject;
      socket.write(writeRequest(request));
    });
  return {
    get: async (path, headers) => Number((await exchange({ path, headers })).slice(9, 12)),
    async ask(request) {
      const [answer] = readVolley(await exchange(request));
      if (answer === undefined) throw new Error('the answer cannot be read');
      return answer;
    },
    close: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
  };
}
