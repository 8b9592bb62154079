import type { Configuration } from 'openid-client';
import { type Clock, hourMs } from '../../platform/clock.ts';
import type { SsoSettings } from '../../settings/sso.ts';
import { readBounded } from './bounded-fetch.ts';
import { type Claims, hasMfa, isOperatorBy } from './claims.ts';
import { isRefusal, SsoFailure, toFailure } from './failure.ts';

/** What an attempt sent along, and the answer must fit. */
export interface Checks {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person as the provider knows it. */
export interface Identity {
  subject: string;
  email: string | undefined;
  operator: boolean;
  /** Whether the provider asked for a second factor that we accept. */
  mfa: boolean;
  refreshToken: string | undefined;
}

export interface Refreshed {
  refreshToken: string;
  /** Undefined when the provider told no claims. */
  operator: boolean | undefined;
}

export interface Provider {
  addressFor(checks: Checks): Promise<string>;
  /** Exchanges the code in the query of the callback. Throws an `SsoFailure`. */
  redeem(query: URLSearchParams, checks: Checks): Promise<Identity>;
  /** Undefined when the provider refuses: the person is gone or has no session any longer. Throws when it is away. */
  refresh(refreshToken: string, subject: string): Promise<Refreshed | undefined>;
  revoke(refreshToken: string): Promise<void>;
  /** Where the browser ends its session at the provider; undefined when it has no such page. */
  logoutAddress(): Promise<string | undefined>;
}

type Library = typeof import('openid-client');
interface Opened {
  openid: Library;
  config: Configuration;
  openedAtMs: number;
}

const callSeconds = 5;
const longestToken = 8192;
const longestSubject = 255;

/** Loads the library and reads the provider's metadata at the first use: a start waits for neither. */
export function createProvider(options: { settings: SsoSettings; publicUrl: string; clock: Clock }): Provider {
  const { settings, publicUrl, clock } = options;
  const { issuer, clientId, clientSecret, operators, mfa } = settings;
  const redirectUri = `${publicUrl}/portal/v1/sso/callback`;
  let opening: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    const known = await opening?.catch(() => undefined);
    if (known !== undefined && clock.steadyMs() - known.openedAtMs < hourMs) return known;
    const next = discover();
    opening = next;
    // Metadata that is an hour old serves until the provider answers again.
    return next.catch((error: unknown) => {
      if (opening === next) opening = known && Promise.resolve(known);
      if (known === undefined) throw error;
      return known;
    });
  }

  async function discover(): Promise<Opened> {
    const openid = await import('openid-client');
    const execute = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
    const fetching = { execute, timeout: callSeconds, [openid.customFetch]: readBounded };
    const found = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), fetching);
    const metadata = found.serverMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth = methods.includes('client_secret_basic') ? openid.ClientSecretBasic : openid.ClientSecretPost;
    const config = new openid.Configuration(metadata, clientId, undefined, auth(clientSecret));
    config.timeout = callSeconds;
    config[openid.customFetch] = readBounded;
    for (const each of execute) each(config);
    // Check the signature too, although the token comes straight from the provider.
    openid.enableNonRepudiationChecks(config);
    return { openid, config, openedAtMs: clock.steadyMs() };
  }

  /** Lets an unknown key be looked up at once: the library would wait a minute since the last time. */
  function allowNewKeys({ openid, config }: Opened): void {
    const cache = openid.getJwksCache(config);
    if (cache !== undefined) openid.setJwksCache(config, { ...cache, uat: cache.uat - 60 });
  }

  async function claimsOf({ openid, config }: Opened, tokens: Tokens, subject: string): Promise<Claims> {
    const claims: Claims = { ...tokens.claims() };
    const isMissing = claims.email === undefined || isOperatorBy(claims, operators) === undefined;
    if (!isMissing || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await openid.fetchUserInfo(config, tokens.access_token, subject)), ...claims };
  }

  return {
    async addressFor({ state, nonce, verifier }) {
      const { openid, config } = await open().catch(toFailure);
      const offline = config.serverMetadata().scopes_supported?.includes('offline_access') ?? false;
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: `openid profile email${offline ? ' offline_access' : ''}`,
        ...{ state, nonce, code_challenge_method: 'S256' },
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      });
      return address.href;
    },

    async redeem(query, { state, nonce, verifier }) {
      try {
        const opened = await open();
        allowNewKeys(opened);
        const { openid, config } = opened;
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), checks);
        const subject = tokens.claims()?.sub;
        if (subject === undefined || subject.length > longestSubject) throw new SsoFailure('failed', 'no usable sub');
        const claims = await claimsOf(opened, tokens, subject);
        return {
          ...{ subject, email: emailIn(claims), operator: isOperatorBy(claims, operators) ?? false },
          ...{ mfa: hasMfa(tokens.claims() ?? {}, mfa), refreshToken: bounded(tokens.refresh_token) },
        };
      } catch (error) {
        return toFailure(error);
      }
    },

    async refresh(refreshToken, subject) {
      const opened = await open();
      allowNewKeys(opened);
      try {
        const tokens = await opened.openid.refreshTokenGrant(opened.config, refreshToken);
        const id = tokens.claims();
        if (id !== undefined && id.sub !== subject) return undefined;
        const operator = operators && isOperatorBy(await claimsOf(opened, tokens, subject), operators);
        return { refreshToken: bounded(tokens.refresh_token) ?? refreshToken, operator };
      } catch (error) {
        if (isRefusal(error)) return undefined;
        throw error;
      }
    },

    async revoke(refreshToken) {
      const { openid, config } = await open();
      if (config.serverMetadata().revocation_endpoint !== undefined)
        await openid.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' });
    },

    async logoutAddress() {
      const { openid, config } = await open();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return openid.buildEndSessionUrl(config, { post_logout_redirect_uri: `${publicUrl}/` }).href;
    },
  };
}

type Tokens = Awaited<ReturnType<Library['refreshTokenGrant']>>;

function bounded(token: string | undefined): string | undefined {
  return token === undefined || token.length > longestToken ? undefined : token;
}

/** Only shown: it says nothing about who the person is. */
function emailIn({ email, email_verified }: Claims): string | undefined {
  return typeof email === 'string' && email_verified !== false ? email : undefined;
}
