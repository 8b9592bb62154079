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

/** Says whose a token is. Tokens are remembered by their exact bytes: a signature is checked once, the rest each time. */
export interface TokenVerifier {
  /** Whether it is worth its signature's check: false for what is made up, expired, or known under another signature. */
  isPlausible(text: string): boolean;
  /** What is remembered of these bytes: whose they are, null for a token that is dead, undefined for "look". */
  remembered(text: string): VerifiedToken | null | undefined;
  /** Whether these bytes were a good token when they were last looked at. */
  wasGood(text: string): boolean;
  look(text: string): Promise<VerifiedToken | null>;
  /** When it ends by itself: it expires, or the key that signed it is no longer taken. */
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
  // Revoked stays revoked, so that is remembered without regard to anything else.
  const known = createBoundedMap<string, VerifiedToken | 'revoked'>(maxRemembered);
  // A token is signed once: under other bytes than those that were found genuine, its id is borrowed.
  const genuine = createBoundedMap<string, string>(maxRemembered);

  function endsAtMs({ token }: VerifiedToken): number {
    const key = signingKeys.loaded()?.find(({ kid }) => kid === token.kid);
    // Without it there is no knowing: a key that was withdrawn is not among them.
    if (key === undefined) return Number.NEGATIVE_INFINITY;
    return Math.min(token.expiresAtMs, key.verifiesUntilMs ?? Number.POSITIVE_INFINITY);
  }

  /** What may have changed since the signature was checked. */
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
      // Its application is forgotten with every change and every revocation, and all that refers to it with it.
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
