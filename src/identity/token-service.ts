import type { Scope } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import { randomBytes } from '../platform/crypto/random.ts';
import type { Database } from '../platform/database/database.ts';
import { unavailable } from '../platform/errors.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import type { KnownApplication, KnownRegistration } from '../registry/directory.ts';
import {
  createTokenGrant,
  isTokenShaped,
  readAccessToken,
  type TokenGrant,
  tokenType,
  writeAccessToken,
} from './access-token.ts';
import {
  type ClientAuthenticationOptions,
  createClientAuthentication,
  parameter,
  type TokenRequest,
} from './client-authentication.ts';
import { type OAuthRefusal, oauthError } from './oauth-error.ts';
import { audienceOf, readScope, type TokenApi } from './scopes.ts';
import type { JwsSigner } from './sign-jws.ts';
import { currentKeys, type SigningKeys, signingKeyAt } from './signing-keys.ts';
import type { TokenChecksums } from './token-checksum.ts';
import { insertRevocation, isRevoked } from './token-store.ts';
import type { TokenVerifier } from './token-verifier.ts';

export interface TokenServiceOptions extends ClientAuthenticationOptions {
  database: Database;
  clock: Clock;
  feed: ChangeFeed;
  signingKeys: SigningKeys;
  verifier: TokenVerifier;
  checksums: TokenChecksums;
  sign: JwsSigner;
  issuer: string;
  tokenSeconds: number;
}

export interface IssuedToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
}

export type TokenService = ReturnType<typeof createTokenService>;

export function createTokenService(options: TokenServiceOptions) {
  const { database, clock, feed, signingKeys, verifier, checksums, issuer, tokenSeconds } = options;
  const { authenticate } = createClientAuthentication(options);
  const grants = new WeakMap<KnownRegistration, TokenGrant>();

  async function issue(
    application: KnownApplication,
    scopeText: string | undefined,
  ): Promise<IssuedToken | OAuthRefusal> {
    const wanted = readScope(scopeText);
    if (wanted === undefined || application.client === undefined) return oauthError('invalid_scope');
    const registration = application.registrations[wanted.api];
    if (registration === undefined) return oauthError('invalid_scope');
    const signers = await currentKeys(signingKeys, feed);
    const nowMs = clock.nowMs();
    const key = signingKeyAt(signers, nowMs);
    if (key === undefined) throw unavailable('No signing key is ready. Try again shortly.');
    const grant = grantOf(application.client, registration, wanted);
    const jti = randomBytes(16).toString('base64url');
    const claims = writeAccessToken(grant, checksums, { jti, nowMs, seconds: tokenSeconds });
    const access_token = await options.sign(key, tokenType, claims);
    return { access_token, token_type: 'Bearer', expires_in: tokenSeconds, scope: grant.scope };
  }

  /** Cached by the registration's object, which is replaced when anything of its application changes. */
  function grantOf(
    { id: clientId, credentialVersion }: NonNullable<KnownApplication['client']>,
    registration: KnownRegistration,
    { api, scope }: { api: TokenApi; scope: Scope },
  ): TokenGrant {
    let grant = grants.get(registration);
    if (grant === undefined) {
      const registrationId = registration.id;
      grant = createTokenGrant(issuer, api, scope, { clientId, registrationId, credentialVersion });
      grants.set(registration, grant);
    }
    return grant;
  }

  return {
    /** RFC 6749, section 4.4. */
    async issueToken(request: TokenRequest): Promise<IssuedToken | OAuthRefusal> {
      const repeated = refuseRepeated(request.form);
      if (repeated !== undefined) return repeated;
      const grant = refuseGrant(parameter(request.form, 'grant_type'));
      if (grant !== undefined) return grant;
      const application = await authenticate(request);
      if ('error' in application) return application;
      return issue(application, parameter(request.form, 'scope'));
    },

    /** RFC 7009. After this returns, no node admits the token. */
    async revoke(request: TokenRequest): Promise<OAuthRefusal | undefined> {
      const application = await authenticateFor(request);
      if ('error' in application) return application;
      const signers = await currentKeys(signingKeys, feed);
      const text = parameter(request.form, 'token') ?? '';
      const unproven = readAccessToken(text, signers, issuer, clock.nowMs());
      if (unproven === undefined || !(await unproven.isGenuine())) return undefined;
      const { token } = unproven;
      if (token.clientId !== application.client?.id)
        return oauthError('invalid_request', 'The token belongs to another client.');
      // Already revoked: write nothing, but wait until the earlier revocation has reached every node.
      if (await isRevoked(database, token.jti)) await feed.settled();
      else await feed.change(application.id, (tx) => insertRevocation(tx, token.jti, token.expiresAtMs));
      return undefined;
    },

    /** RFC 7662. A client can only inspect its own tokens. */
    async introspect(request: TokenRequest): Promise<object | OAuthRefusal> {
      const application = await authenticateFor(request);
      if ('error' in application) return application;
      const text = parameter(request.form, 'token') ?? '';
      if (!isTokenShaped(text)) return { active: false };
      const remembered = verifier.remembered(text);
      const verified = remembered === undefined ? await verifier.lookUp(text) : remembered;
      if (verified === null || verified.token.clientId !== application.client?.id) return { active: false };
      const { token } = verified;
      return {
        active: true,
        scope: token.scopes.join(' '),
        client_id: token.clientId,
        token_type: 'Bearer',
        exp: Math.floor(token.expiresAtMs / 1000),
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
  const names = new Set(form.keys());
  return names.size === form.size ? undefined : oauthError('invalid_request', 'A parameter was sent twice.');
}

function refuseGrant(grant: string | undefined): OAuthRefusal | undefined {
  if (grant === undefined) return oauthError('invalid_request', 'grant_type is missing.');
  return grant === 'client_credentials' ? undefined : oauthError('unsupported_grant_type');
}
