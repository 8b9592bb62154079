import assert from 'node:assert/strict';
import { createTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { createCookies } from './browser-cookies.ts';
import { createRunningClock } from './clock.ts';
import { freePort } from './process.ts';
import { clientId, clientSecret, type SsoProvider, startSsoProvider } from './sso-provider.ts';

export interface SsoWorld {
  app: TestApp;
  provider: SsoProvider;
  close(): Promise<void>;
}

/** An app whose people sign in at a real provider. Both have the system's clock; the app's can be turned on. */
export async function createSsoWorld({ env = {}, ...options }: TestAppOptions = {}): Promise<SsoWorld> {
  const port = await freePort();
  const provider = await startSsoProvider(`http://127.0.0.1:${port}/portal/v1/sso/callback`);
  const app = await createTestApp({
    delivery: 'held',
    clock: createRunningClock(),
    ...options,
    env: { PORT: String(port), ...ssoEnv(provider), ...env },
  });
  return {
    app,
    provider,
    async close() {
      await app.close();
      await provider.close();
    },
  };
}

export function ssoEnv({ issuer }: { issuer: string }): Record<string, string> {
  return {
    HELIOGRAPH_SSO_ISSUER: issuer,
    HELIOGRAPH_SSO_CLIENT_ID: clientId,
    HELIOGRAPH_SSO_CLIENT_SECRET: clientSecret,
  };
}

export interface Me {
  id: string;
  person_id: string;
  email: string;
  operator: boolean;
  has_password: boolean;
  second_factor: { enabled: boolean; can_set_up: boolean };
  sso: { joined: boolean; session: boolean } | null;
}

export type TestBrowser = ReturnType<typeof createBrowser>;

/** Keeps cookies and follows redirects, as far as a page of the portal. */
export function createBrowser(app: { url: string }) {
  const jar = new Map<string, string>();
  const send = createCookies(fetch, jar);

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: never }> {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await send(app.url + path, {
      method,
      ...(body !== undefined && { headers, body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as never };
  }

  /** Returns each address on the way; the last is a page of the portal. */
  async function follow(address: string): Promise<string[]> {
    const way = [address];
    for (let hops = 0; hops < 12; hops++) {
      const at = way.at(-1) ?? '';
      if (at.includes('/#')) return way;
      const answer = await send(at, { redirect: 'manual' });
      const location = answer.headers.get('location');
      if (location === null) return assert.fail(`${at} answered ${answer.status}: ${await answer.text()}`);
      way.push(new URL(location, at).href);
    }
    return assert.fail(`too many redirects: ${way.join(' ')}`);
  }

  async function begin(path = '/portal/v1/sso/attempts', body: object = {}): Promise<string> {
    const { status, body: answer } = await ask('POST', path, body);
    assert.equal(status, 201, JSON.stringify(answer));
    return (answer as { url: string }).url;
  }

  return {
    jar,
    send: ask,
    begin,
    follow,
    /** Up to the callback, which is not called. */
    async toCallback(address: string): Promise<string> {
      let at = address;
      for (let hops = 0; hops < 12 && !at.includes('/portal/v1/sso/callback'); hops++) {
        const answer = await send(at, { redirect: 'manual' });
        at = new URL(answer.headers.get('location') ?? assert.fail(`${at} answered ${answer.status}`), at).href;
      }
      return at;
    },
    /** Signs in. Returns the page that is shown then. */
    async signIn(body: object = {}): Promise<string> {
      return pageOf(await follow(await begin('/portal/v1/sso/attempts', body)));
    },
    async me(): Promise<Me | undefined> {
      const { status, body } = await ask('GET', '/portal/v1/me');
      return status === 200 ? (body as Me) : undefined;
    },
    async account(): Promise<Me> {
      const { status, body } = await ask('GET', '/portal/v1/me');
      assert.equal(status, 200, JSON.stringify(body));
      return body as Me;
    },
  };
}

export function pageOf(way: string[]): string {
  return (way.at(-1) ?? '').split('/#')[1] ?? '';
}
