import type { CallingClient } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import { unavailable } from '../platform/errors.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBytes } from '../platform/random.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import type { Directory, KnownApplication } from '../registry/directory.ts';
import { findSecret, hashClientSecret } from '../registry/oauth-client.ts';
import { readAccessToken, signAccessToken } from './access-token.ts';
import { type OAuthRefusal, oauthError } from './oauth-error.ts';
import { audienceOf, readScope } from './scopes.ts';
import { type SigningKeys, signingKeyAt } from './signing-keys.ts';
import { deleteOutlived, insertRevocation } from './token-store.ts';
import type { TokenVerifier } from './token-verifier.ts';

export interface TokenServiceOptions {
  clock: Clock;
  keys: KeyRing;
  directory: Directory;
  feed: ChangeFeed;
  signingKeys: SigningKeys;
  verifier: TokenVerifier;
  issuer: string;
  tokenSeconds: number;
  /** Told of every secret that was used. */
  onSecretUsed: (secretId: string) => void;
}

export interface TokenRequest {
  form: URLSearchParams;
  client: CallingClient;
}

export interface IssuedToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
}

export type TokenService = ReturnType<typeof createTokenService>;

export function createTokenService(options: TokenServiceOptions) {
  const { clock, keys, directory, feed, signingKeys, verifier, issuer, tokenSeconds } = options;

  /** The client and its application, or `invalid_client`: the same for an unknown client and for a wrong secret. */
  async function authenticate(request: TokenRequest): Promise<KnownApplication | OAuthRefusal> {
    const sent = readCredentials(request);
    if ('error' in sent) return sent;
    const { clientId, clientSecret } = sent;
    const remembered = directory.rememberedClient(clientId);
    if (remembered) {
      const secret = findSecret(keys, remembered.client?.secrets ?? [], clientSecret, clock.nowMs());
      if (secret !== undefined) return used(remembered, secret.id);
    }
    // Only success is served from memory. Every failure costs one lookup and one comparison, whoever it was.
    const found = await directory.lookUpClient(clientId);
    const stored = found?.client?.secrets ?? [];
    if (stored.length === 0) hashClientSecret(keys, clientSecret, keys.version);
    const secret = findSecret(keys, stored, clientSecret, clock.nowMs());
    return found === null || secret === undefined ? oauthError('invalid_client') : used(found, secret.id);
  }

  function used(application: KnownApplication, secretId: string): KnownApplication {
    options.onSecretUsed(secretId);
    return application;
  }

  async function issue(
    application: KnownApplication,
    scopeText: string | undefined,
  ): Promise<IssuedToken | OAuthRefusal> {
    const wanted = readScope(scopeText);
    if (wanted === undefined || application.client === undefined) return oauthError('invalid_scope');
    if (application.registrations[wanted.api] === undefined) return oauthError('invalid_scope');
    const nowMs = clock.nowMs();
    const key = signingKeyAt(signingKeys.loaded() ?? (await signingKeys.load()), nowMs);
    if (key === undefined) throw unavailable('No signing key is ready. Try again shortly.');
    const access_token = await signAccessToken(key, {
      issuer,
      clientId: application.client.id,
      api: wanted.api,
      scope: wanted.scope,
      jti: randomBytes(16).toString('base64url'),
      nowMs,
      seconds: tokenSeconds,
      credentialVersion: application.client.credentialVersion,
    });
    return { access_token, token_type: 'Bearer', expires_in: tokenSeconds, scope: `openid ${wanted.scope}` };
  }

  return {
    /** RFC 6749, section 4.4, step by step. */
    async issueToken(request: TokenRequest): Promise<IssuedToken | OAuthRefusal> {
      const repeated = refuseRepeated(request.form);
      if (repeated !== undefined) return repeated;
      const grant = refuseGrant(parameter(request.form, 'grant_type'));
      if (grant !== undefined) return grant;
      const application = await authenticate(request);
      if ('error' in application) return application;
      return issue(application, parameter(request.form, 'scope'));
    },

    /** RFC 7009. When this has returned, no node admits the token any more. */
    async revoke(request: TokenRequest): Promise<OAuthRefusal | undefined> {
      const application = await authenticateFor(request);
      if ('error' in application) return application;
      const keysNow = signingKeys.loaded() ?? (await signingKeys.load());
      const token = readAccessToken(parameter(request.form, 'token') ?? '', keysNow, issuer, clock.nowMs());
      if (token === undefined || token.expiresAtMs <= clock.nowMs()) return undefined;
      if (token.clientId !== application.client?.id)
        return oauthError('invalid_request', 'The token belongs to another client.');
      await feed.change(application.id, async (tx) => {
        await insertRevocation(tx, token.jti, token.expiresAtMs);
        await deleteOutlived(tx, clock.nowMs());
      });
      return undefined;
    },

    /** RFC 7662. A client learns about its own tokens only. */
    async introspect(request: TokenRequest): Promise<object | OAuthRefusal> {
      const application = await authenticateFor(request);
      if ('error' in application) return application;
      const text = parameter(request.form, 'token') ?? '';
      const verified = verifier.remembered(text) ?? (await verifier.look(text));
      if (verified === null || verified.token.clientId !== application.client?.id) return { active: false };
      const { token } = verified;
      return {
        active: true,
        scope: token.scopes.join(' '),
        client_id: token.clientId,
        token_type: 'Bearer',
        exp: token.expiresAtMs / 1000,
        iat: token.issuedAtMs / 1000,
        sub: token.clientId,
        aud: audienceOf(token.api),
        iss: issuer,
        jti: token.jti,
      };
    },
  };

  async function authenticateFor(request: TokenRequest): Promise<KnownApplication | OAuthRefusal> {
    const repeated = refuseRepeated(request.form);
    if (repeated !== undefined) return repeated;
    const application = await authenticate(request);
    if ('error' in application) return application;
    return parameter(request.form, 'token') === undefined
      ? oauthError('invalid_request', 'token is missing.')
      : application;
  }
}

function refuseRepeated(form: URLSearchParams): OAuthRefusal | undefined {
  const names = [...form.keys()];
  return new Set(names).size === names.length
    ? undefined
    : oauthError('invalid_request', 'A parameter was sent twice.');
}

function refuseGrant(grant: string | undefined): OAuthRefusal | undefined {
  if (grant === undefined) return oauthError('invalid_request', 'grant_type is missing.');
  return grant === 'client_credentials' ? undefined : oauthError('unsupported_grant_type');
}

function readCredentials({ form, client }: TokenRequest): { clientId: string; clientSecret: string } | OAuthRefusal {
  const clientId = parameter(form, 'client_id');
  const clientSecret = parameter(form, 'client_secret');
  if (client.basic === null) return oauthError('invalid_client');
  if (client.basic !== undefined) {
    // A client_id beside Basic is harmless when it names the same client; a second secret never is.
    const both = clientSecret !== undefined || (clientId !== undefined && clientId !== client.basic.clientId);
    return both ? oauthError('invalid_request', 'Send the client credentials in one way only.') : client.basic;
  }
  return clientId === undefined || clientSecret === undefined
    ? oauthError('invalid_client')
    : { clientId, clientSecret };
}

/** An empty value is an absent one (RFC 6749, section 3.2). */
function parameter(form: URLSearchParams, name: string): string | undefined {
  return form.get(name) || undefined;
}
