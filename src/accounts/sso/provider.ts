import type { Configuration, ServerMetadata } from 'openid-client';
import { type Clock, hourMs } from '../../platform/clock.ts';
import type { SsoSettings } from '../../settings/sso.ts';
import { readBounded } from './bounded-fetch.ts';
import { type Claims, hasMfa, isOperatorBy } from './claims.ts';
import { isRefusal, SsoFailure, toFailure } from './failure.ts';

/** The values that an attempt sends along; the provider's answer must match them. */
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
  /** Undefined when the provider sent no claims. */
  operator: boolean | undefined;
  /** Why the claims could not be read. The recheck then counts as failed, but the old refresh token is used up. */
  failure?: Error;
}

export interface Provider {
  addressFor(checks: Checks): Promise<string>;
  /** Exchanges the code in the query of the callback. Throws an `SsoFailure`. */
  redeem(query: URLSearchParams, checks: Checks): Promise<Identity>;
  /** Undefined when the provider refuses: the person or the session is gone. Throws when it cannot be reached. */
  refresh(refreshToken: string, subject: string): Promise<Refreshed | undefined>;
  revoke(refreshToken: string): Promise<void>;
  /** Where the browser ends its session at the provider; undefined when it has no such page. */
  logoutAddress(): Promise<string | undefined>;
}

type Library = typeof import('openid-client');
type JwksCache = NonNullable<ReturnType<Library['getJwksCache']>>;
interface Opened {
  openid: Library;
  metadata: ServerMetadata;
  openedAtMs: number;
  /** The provider's keys, as the library keeps them. */
  keys: JwksCache | undefined;
}

const usualSeconds = 5;
const keysAgeSeconds = 60;
const longestToken = 8192;
const longestSubject = 255;

export interface ProviderOptions {
  settings: SsoSettings;
  publicUrl: string;
  clock: Clock;
  /** How long a call waits for the provider, to the end of its answer. */
  callSeconds?: number;
}

/** Loads the library and reads the provider's metadata at the first use: a start waits for neither. */
export function createProvider(options: ProviderOptions): Provider {
  const { settings, publicUrl, clock, callSeconds = usualSeconds } = options;
  const { issuer, clientId, clientSecret, operators, mfa } = settings;
  const isInsecure = issuer.startsWith('http:');
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
    const execute = isInsecure ? [openid.allowInsecureRequests] : [];
    const fetching = { execute, timeout: callSeconds, [openid.customFetch]: readBounded };
    const found = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), fetching);
    return { openid, metadata: found.serverMetadata(), openedAtMs: clock.steadyMs(), keys: undefined };
  }

  /**
   * A configuration for one exchange. It makes the cached keys look older: else the library would wait a minute before it
   * reads a key that is new at the provider, and the sign-in would fail.
   */
  function configOf({ openid, metadata, keys }: Opened): Configuration {
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const auth = methods.includes('client_secret_basic') ? openid.ClientSecretBasic : openid.ClientSecretPost;
    const config = new openid.Configuration(metadata, clientId, undefined, auth(clientSecret));
    config.timeout = callSeconds;
    config[openid.customFetch] = readBounded;
    if (isInsecure) openid.allowInsecureRequests(config);
    if (keys !== undefined) openid.setJwksCache(config, { ...keys, uat: keys.uat - keysAgeSeconds });
    // Check the signature too, although the token comes straight from the provider.
    openid.enableNonRepudiationChecks(config);
    return config;
  }

  /** Keeps keys that the library has read anew; the given ones only look older than they are. */
  function keepKeys(opened: Opened, config: Configuration): void {
    const used = opened.openid.getJwksCache(config);
    if (used !== undefined && used.uat !== (opened.keys?.uat ?? 0) - keysAgeSeconds) opened.keys = used;
  }

  async function claimsOf(openid: Library, config: Configuration, tokens: Tokens, subject: string): Promise<Claims> {
    const claims: Claims = { ...tokens.claims() };
    const isMissing = claims.email === undefined || isOperatorBy(claims, operators) === undefined;
    if (!isMissing || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await openid.fetchUserInfo(config, tokens.access_token, subject)), ...claims };
  }

  /** Providers leave out a claim without values: if there are claims but not this one, the person is no operator. */
  function isOperatorNow(claims: Claims): boolean | undefined {
    return Object.keys(claims).length === 0 ? undefined : (isOperatorBy(claims, operators) ?? false);
  }

  return {
    async addressFor({ state, nonce, verifier }) {
      const opened = await open().catch(toFailure);
      const { openid } = opened;
      const config = configOf(opened);
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
        const { openid } = opened;
        const config = configOf(opened);
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), checks);
        keepKeys(opened, config);
        const subject = tokens.claims()?.sub;
        if (subject === undefined || subject.length > longestSubject) throw new SsoFailure('failed', 'no usable sub');
        const claims = await claimsOf(openid, config, tokens, subject);
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
      const { openid } = opened;
      const config = configOf(opened);
      try {
        const tokens = await openid.refreshTokenGrant(config, refreshToken);
        keepKeys(opened, config);
        const id = tokens.claims();
        if (id !== undefined && id.sub !== subject) return undefined;
        const renewed = { refreshToken: bounded(tokens.refresh_token) ?? refreshToken, operator: undefined };
        if (operators === undefined) return renewed;
        return await claimsOf(openid, config, tokens, subject).then(
          (claims) => ({ ...renewed, operator: isOperatorNow(claims) }),
          (failure: Error) => ({ ...renewed, failure }),
        );
      } catch (error) {
        if (isRefusal(error)) return undefined;
        throw error;
      }
    },

    async revoke(refreshToken) {
      const opened = await open();
      const { openid, metadata } = opened;
      if (metadata.revocation_endpoint !== undefined)
        await openid.tokenRevocation(configOf(opened), refreshToken, { token_type_hint: 'refresh_token' });
    },

    async logoutAddress() {
      const opened = await open();
      const { openid, metadata } = opened;
      if (metadata.end_session_endpoint === undefined) return undefined;
      return openid.buildEndSessionUrl(configOf(opened), { post_logout_redirect_uri: `${publicUrl}/` }).href;
    },
  };
}

type Tokens = Awaited<ReturnType<Library['refreshTokenGrant']>>;

function bounded(token: string | undefined): string | undefined {
  return token === undefined || token.length > longestToken ? undefined : token;
}

/** Only for display: an e-mail does not identify the person. */
function emailIn({ email, email_verified }: Claims): string | undefined {
  return typeof email === 'string' && email_verified !== false ? email : undefined;
}
