import type { KnownCaller } from '../http/admission.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import { type CredentialCache, createCredentialCache, type Finding } from '../registry/credential-cache.ts';
import { callerOf, type Directory, type KnownApplication } from '../registry/directory.ts';
import { type AccessToken, isTokenShaped, readAccessToken, readTokenId } from './access-token.ts';
import { currentKeys, type SigningKeys } from './signing-keys.ts';
import type { TokenChecksums } from './token-checksum.ts';
import { isRevoked } from './token-store.ts';

export interface VerifiedToken extends KnownCaller {
  token: AccessToken;
}

export interface TokenVerifierOptions {
  database: Database;
  clock: Clock;
  directory: Directory;
  clients: CredentialCache<KnownApplication>;
  feed: ChangeFeed;
  signingKeys: SigningKeys;
  checksums: TokenChecksums;
  issuer: string;
  /** Tokens to remember. */
  most?: number;
}

/** Most callers renew a token long before. One unused for this time is forgotten, and verified anew when it comes again. */
const unusedMs = 10 * minuteMs;

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** Finds the caller of an access token. A token's signature is checked once, unless signing keys change. */
export function createTokenVerifier(options: TokenVerifierOptions) {
  const { database, clock, directory, clients, feed, signingKeys, checksums, issuer, most = 100_000 } = options;
  // Maps a token's id to the genuine token. Other text with the same id is forged, because each token is signed once.
  const genuine = createBoundedMap<string, string>(most, { clock, unusedMs });
  const cache = createCredentialCache<VerifiedToken>({ read, feed, applications: directory, clock, most, unusedMs });

  /** False for a token that is made up, expired, or known with another signature. Checks no signature. */
  function isPlausible(text: string): boolean {
    const id = readTokenId(text, checksums, clock.nowMs());
    return id !== undefined && (genuine.get(id) ?? text) === text;
  }

  async function read(text: string): Promise<Finding<VerifiedToken> | undefined> {
    const signers = await currentKeys(signingKeys, feed);
    const unproven = isPlausible(text) ? readAccessToken(text, signers, issuer, clock.nowMs()) : undefined;
    if (unproven === undefined || !(await unproven.isGenuine())) return undefined;
    const { token } = unproven;
    genuine.set(token.jti, text);
    const remembered = clients.remembered(token.clientId);
    const [application, revoked] = await Promise.all([
      remembered === undefined ? clients.lookUp(token.clientId) : remembered,
      isRevoked(database, token.jti),
    ]);
    const verifiesUntilMs = signers.find(({ kid }) => kid === token.kid)?.verifiesUntilMs ?? Number.POSITIVE_INFINITY;
    const endsAtMs = Math.min(token.expiresAtMs, verifiesUntilMs);
    if (revoked || application === null) return { value: null, application: undefined, endsAtMs };
    return { value: verify(token, application), application, endsAtMs };
  }

  return {
    isWellFormed: isTokenShaped,
    isPlausible,
    remembered: cache.remembered,
    wasKnown: cache.wasKnown,
    lookUp: cache.lookUp,
    /** For a change of signing keys: one of them may be withdrawn. */
    invalidate: cache.invalidate,
    get size() {
      return cache.size;
    },
  };
}

/** Null if a secret was rotated without overlap, or the registration is gone, since the token was signed. */
function verify(token: AccessToken, application: KnownApplication): VerifiedToken | null {
  const { client, registrations } = application;
  const holds =
    client?.id === token.clientId &&
    client.credentialVersion === token.credentialVersion &&
    registrations[token.api]?.id === token.registrationId;
  const known = holds ? callerOf(application, token.api, token.scopes) : null;
  return known === null ? null : { ...known, token };
}
