import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';
import { createProviderMemory } from './provider-memory.ts';

export const clientId = 'heliograph';
export const clientSecret = 'a secret that the service shares with the provider';

/** A person at the provider. */
export interface ProviderUser {
  sub: string;
  claims?: Record<string, unknown>;
}

export interface SsoProvider {
  issuer: string;
  /** Who signs in next; undefined: the person refuses. */
  user: ProviderUser | undefined;
  /** `claims`: in the ID token; else only at userinfo. */
  set(options: { refreshTokens?: boolean; claims?: 'id_token' | 'userinfo'; callback?: string }): void;
  /** The person is gone: refresh tokens end with it. */
  remove(sub: string): void;
  rotateKeys(): void;
  /** Answers every request by this instead. */
  answerAll: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Userinfo answers 500. */
  failsUserinfo: boolean;
  /** Answers token requests by this instead, with the nonce of the last authorization request. */
  answerToken: ((nonce: string) => Promise<object>) | undefined;
  /** Paths of all requests so far. */
  readonly requests: string[];
  publicJwk(): Record<string, unknown>;
  /** Every refresh token that it has given out. */
  refreshTokens(): string[];
  /** Of the last authorization request. */
  lastNonce(): string;
  close(): Promise<void>;
}

/** The real oidc-provider on loopback. It asks for no password: `user` is who sits before it. */
export async function startSsoProvider(callback: string): Promise<SsoProvider> {
  const gone = new Set<string>();
  const known = new Map<string, ProviderUser>();
  const adapter = createProviderMemory();
  const requests: string[] = [];
  const tokens: string[] = [];
  let nonce = '';
  let keys = newKeys();
  const settings = { callback, refreshTokens: true, claims: 'id_token' as 'id_token' | 'userinfo' };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider = create();
  const me: SsoProvider = {
    issuer,
    user: undefined,
    answerAll: undefined,
    failsUserinfo: false,
    answerToken: undefined,
    requests,
    set(options) {
      Object.assign(settings, options);
      provider = create();
    },
    remove: (sub) => void gone.add(sub),
    rotateKeys() {
      keys = newKeys();
      provider = create();
    },
    publicJwk() {
      const { kty, crv, x, y, kid } = keys[0] ?? {};
      return { kty, crv, x, y, kid };
    },
    refreshTokens: () => tokens,
    lastNonce: () => nonce,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };

  function create(): Provider {
    const made = quietly(
      () =>
        new Provider(issuer, {
          clients: [
            {
              ...{ client_id: clientId, client_secret: clientSecret, redirect_uris: [settings.callback] },
              grant_types: ['authorization_code', 'refresh_token'],
              response_types: ['code'],
              id_token_signed_response_alg: 'ES256',
              post_logout_redirect_uris: [new URL('/', settings.callback).href],
            },
          ],
          jwks: { keys },
          adapter,
          cookies: { keys: ['cookies of a test'] },
          scopes: ['openid', 'profile', 'email', 'offline_access'],
          claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups', 'acr', 'amr'] },
          conformIdTokenClaims: settings.claims === 'userinfo',
          pkce: { required: () => true },
          features: {
            devInteractions: { enabled: false },
            revocation: { enabled: true, allowedPolicy: () => true },
            rpInitiatedLogout: { enabled: true },
          },
          interactions: { url: () => '/interaction' },
          ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, RefreshToken: 86_400 },
          issueRefreshToken: () => settings.refreshTokens,
          rotateRefreshToken: true,
          findAccount(_: unknown, id: string) {
            if (gone.has(id)) return undefined;
            return { accountId: id, claims: () => ({ sub: id, ...known.get(id)?.claims }) };
          },
          async loadExistingGrant(context: { oidc: { session: { accountId: string } } }) {
            const grant = new provider.Grant({ clientId, accountId: context.oidc.session.accountId });
            grant.addOIDCScope('openid profile email offline_access');
            await grant.save();
            return grant;
          },
        }),
    );
    made.on('grant.success', ({ body }) => {
      if (body?.refresh_token !== undefined) tokens.push(body.refresh_token);
    });
    return made;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    requests.push(pathname);
    if (pathname === '/auth') nonce = searchParams.get('nonce') ?? nonce;
    if (me.answerAll !== undefined) return me.answerAll(request, response);
    if (pathname === '/me' && me.failsUserinfo) return void response.writeHead(500).end();
    if (pathname === '/token' && me.answerToken !== undefined) {
      await text(request);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(await me.answerToken(nonce)));
      return;
    }
    if (pathname !== '/interaction') return provider.callback()(request, response);
    const { user } = me;
    if (user === undefined) return provider.interactionFinished(request, response, { error: 'access_denied' });
    known.set(user.sub, user);
    const { acr, amr } = user.claims ?? {};
    const login = { accountId: user.sub, remember: false, acr, amr };
    return provider.interactionFinished(request, response, { login });
  }

  return me;
}

function newKeys(): Record<string, unknown>[] {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' }];
}

/** It prints hints for operators of a real one. */
function quietly<Result>(work: () => Result): Result {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    return work();
  } finally {
    Object.assign(console, { info, warn });
  }
}
