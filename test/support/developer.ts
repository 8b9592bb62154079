import assert from 'node:assert/strict';
import { exchange } from './http.ts';
import { assertPromised } from './promised.ts';

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  body: Body;
  headers: Headers;
}

/** Sends JSON over a real socket and reads whatever comes back. */
export async function send<Body = Record<string, unknown>>(
  app: { url: string },
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> {
  const {
    status,
    headers,
    body: text,
  } = await exchange(app.url + path, {
    method,
    headers: {
      ...(options.body !== undefined && { 'Content-Type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  });
  const body = text === '' ? undefined : JSON.parse(text);
  assertPromised(app.url, method, path, { status, headers, body });
  return { status, headers, body: body as Body };
}

export interface TestDeveloper {
  email: string;
  password: string;
  cookie: string;
  send<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<Body>>;
}

let count = 0;

/** A developer who has just signed up. */
export async function signUp(app: { url: string }): Promise<TestDeveloper> {
  const email = `developer-${++count}-${process.pid}@example.com`;
  const password = 'a sentence that only I would think of';
  const answer = await send(app, 'POST', '/portal/v1/accounts', { body: { email, password } });
  assert.equal(answer.status, 201);
  return asDeveloper(app, email, password, answer);
}

export function asDeveloper(app: { url: string }, email: string, password: string, signedIn: Answer): TestDeveloper {
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return {
    email,
    password,
    cookie,
    send: (method, path, body) => send(app, method, path, { body, headers: { cookie } }),
  };
}

export async function createApplication(developer: TestDeveloper, name = 'ACME'): Promise<string> {
  const { status, body } = await developer.send<{ id: string }>('POST', '/portal/v1/applications', { name });
  assert.equal(status, 201);
  return body.id;
}

export interface Registered {
  id: string;
  api: string;
  plan: string;
  status: string;
  requested_plan: string | null;
  credential: Record<string, string> | null;
}

export function register(developer: TestDeveloper, applicationId: string, api: string, plan: string) {
  return developer.send<Registered>('POST', `/portal/v1/applications/${applicationId}/registrations`, { api, plan });
}
