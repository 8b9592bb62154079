import assert from 'node:assert/strict';
import { Type } from 'typebox';
import { type Api, type Auth, type Call, type Route, route, type Scope } from '../../src/http/route.ts';
import type { TestApp } from './app.ts';
import { createApplication, register, signUp, type TestDeveloper } from './developer.ts';

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
  app: TestApp,
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
    const { credential } = body;
    if (credential?.type === 'api_key') {
      made.apiKey = credential.api_key ?? '';
      made.keyId = credential.id ?? '';
    } else if (credential !== null) {
      made.client = { client_id: credential.client_id ?? '', client_secret: credential.client_secret ?? '' };
    }
  }
  return made;
}

/** Sends a form to an identity endpoint: `token`, `revoke` or `token/introspect`. */
export async function sendForm(
  app: { url: string },
  endpoint: string,
  form: Record<string, string> | string[][] | string,
  { headers = {}, realm = 'heliograph' }: TokenOptions = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${app.url}/realms/${realm}/protocol/openid-connect/${endpoint}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
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
