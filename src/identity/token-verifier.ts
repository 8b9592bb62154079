import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import type { Directory, KnownApplication } from '../registry/directory.ts';
import { createSharedLookup } from '../registry/shared-lookup.ts';
import { type AccessToken, readAccessToken, readTokenId } from './access-token.ts';
import { currentKeys, type SigningKeys } from './signing-keys.ts';
import type { TokenChecksums } from './token-checksum.ts';
import { isRevoked } from './token-store.ts';

export interface VerifiedToken {
  token: AccessToken;
  application: KnownApplication;
}

/**
 * Finds the owner of a token. Caches tokens by their exact bytes: the signature is checked once, the rest at every use.
 */
export interface TokenVerifier {
  /**
   * Whether the signature is worth checking: false for a token that is made up, expired, or known with another
   * signature.
   */
  isPlausible(text: string): boolean;
  /** The cached owner; null for a token that is no longer valid; undefined for "look it up". */
  remembered(text: string): VerifiedToken | null | undefined;
  /** Whether this token was valid at the last lookup. */
  wasGood(text: string): boolean;
  look(text: string): Promise<VerifiedToken | null>;
  /** When the token expires, or its signing key stops verifying. */
  endsAtMs(verified: VerifiedToken): number;
  readonly size: number;
}

export function createTokenVerifier(options: {
  database: Database;
  clock: Clock;
  directory: Directory;
  feed: ChangeFeed;
  signingKeys: SigningKeys;
  checksums: TokenChecksums;
  issuer: string;
  maxRemembered?: number;
}): TokenVerifier {
  const { database, clock, directory, feed, signingKeys, checksums, issuer, maxRemembered = 100_000 } = options;
  // A revoked token stays revoked, so this entry never becomes outdated.
  const known = createBoundedMap<string, VerifiedToken | 'revoked'>(maxRemembered);
  // Maps a token's id to the genuine token. Other bytes with the same id are forged, because each token is signed once.
  const genuine = createBoundedMap<string, string>(maxRemembered);

  function endsAtMs({ token }: VerifiedToken): number {
    const key = signingKeys.loaded()?.find(({ kid }) => kid === token.kid);
    // A withdrawn key is not loaded: its tokens are invalid.
    if (key === undefined) return Number.NEGATIVE_INFINITY;
    return Math.min(token.expiresAtMs, key.verifiesUntilMs ?? Number.POSITIVE_INFINITY);
  }

  /** Checks what may have changed since the signature was checked. */
  function isAlive({ token, application }: VerifiedToken): boolean {
    const { client } = application;
    return (
      token.expiresAtMs > clock.nowMs() &&
      client?.id === token.clientId &&
      client.credentialVersion === token.credentialVersion &&
      application.registrations[token.api]?.id === token.registrationId
    );
  }

  function isPlausible(text: string): boolean {
    const id = readTokenId(text, checksums, clock.nowMs());
    return id !== undefined && (genuine.get(id) ?? text) === text;
  }

  function forget(text: string): null {
    known.delete(text);
    return null;
  }

  async function look(text: string): Promise<VerifiedToken | null> {
    const { generation } = feed;
    const signers = await currentKeys(signingKeys, feed);
    const unproven = isPlausible(text) ? readAccessToken(text, signers, issuer, clock.nowMs()) : undefined;
    if (unproven === undefined) return forget(text);
    const { token } = unproven;
    if (!(await unproven.isGenuine())) return forget(text);
    genuine.set(token.jti, text);
    const remembered = directory.rememberedClient(token.clientId);
    const [application, revoked] = await Promise.all([
      remembered === undefined ? directory.lookUpClient(token.clientId) : remembered,
      isRevoked(database, token.jti),
    ]);
    if (revoked) {
      known.set(text, 'revoked');
      return null;
    }
    if (application === null) return forget(text);
    const verified = { token, application };
    if (feed.generation === generation) known.set(text, verified);
    return isAlive(verified) ? verified : null;
  }

  return {
    isPlausible,
    remembered(text) {
      const entry = known.get(text);
      if (entry === undefined) return undefined;
      if (entry === 'revoked') return null;
      // Every change and revocation drops the application from the directory, which invalidates this entry.
      if (!directory.isCurrent(entry.application)) return undefined;
      if (signingKeys.loaded() === undefined) return undefined;
      return endsAtMs(entry) > clock.nowMs() && isAlive(entry) ? entry : null;
    },
    wasGood: (text) => typeof known.get(text) === 'object',
    look: createSharedLookup(feed, clock, look),
    endsAtMs,
    get size() {
      return known.size;
    },
  };
}
