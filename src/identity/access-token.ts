import { type VerifyKeyObjectInput, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Scope } from '../http/route.ts';
import { isObject } from '../platform/settings.ts';
import { apiOfAudience, audienceOf, scopesOf, type TokenApi } from './scopes.ts';
import { signJws } from './sign-jws.ts';
import { type SigningKey, verifyingKey } from './signing-keys.ts';
import type { TokenChecksums } from './token-checksum.ts';

/** What a token of ours says, as far as it does not change while it lives. */
export interface AccessToken {
  jti: string;
  clientId: string;
  api: TokenApi;
  scopes: string[];
  issuedAtMs: number;
  /** To the millisecond, so that a token lives for as long as `expires_in` said: `exp` counts whole seconds. */
  expiresAtMs: number;
  /** The registration it was issued for: removed and made anew, it is another, and the token stays dead. */
  registrationId: string;
  /** Compared with the client's for equality: a secret rotated without overlap ends its tokens. */
  credentialVersion: number;
  /** The key that signed it: withdrawn, the token is worth nothing. */
  kid: string;
}

const longest = 4096;
const tokenType = 'at+jwt';
/** Nodes' clocks may differ by as much from the database's, each in its own direction. */
const clockSkewMs = 4000;

export function signAccessToken(
  key: SigningKey,
  checksums: TokenChecksums,
  claims: {
    issuer: string;
    clientId: string;
    api: TokenApi;
    scope: Scope;
    jti: string;
    nowMs: number;
    seconds: number;
    registrationId: string;
    credentialVersion: number;
  },
): Promise<string> {
  const expiresAtMs = claims.nowMs + claims.seconds * 1000;
  const said = {
    iss: claims.issuer,
    sub: claims.clientId,
    aud: audienceOf(claims.api),
    client_id: claims.clientId,
    azp: claims.clientId,
    scope: `openid ${claims.scope}`,
    iat: Math.floor(claims.nowMs / 1000),
    // Rounded as `iat` is, so that the two are `expires_in` apart. Here a token dies by `exp_ms`.
    exp: Math.floor(expiresAtMs / 1000),
    jti: claims.jti,
    exp_ms: expiresAtMs,
    rid: claims.registrationId,
    cv: claims.credentialVersion,
  };
  return signJws(key, tokenType, { ...said, chk: checksums.of(said) });
}

/** True for what could be a token: three parts of base64url, not overlong. Nothing is decoded to find out. */
export function isTokenShaped(text: string): boolean {
  return text.length <= longest && /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text);
}

/** The id of what we could have made and has not expired. Its signature is not looked at: what is made up ends here. */
export function readTokenId(text: string, checksums: TokenChecksums, nowMs: number): string | undefined {
  if (!isTokenShaped(text)) return undefined;
  const claims = decode(text.slice(text.indexOf('.') + 1, text.lastIndexOf('.')));
  if (claims === undefined || typeof claims.jti !== 'string') return undefined;
  const expiresAtMs = readExpiry(claims);
  if (expiresAtMs === undefined || expiresAtMs <= nowMs) return undefined;
  return checksums.isRight(claims) ? claims.jti : undefined;
}

/** A token that says all that one of ours would say. Whether it is one is for its signature to tell. */
export interface UnprovenToken {
  token: AccessToken;
  /** In another thread: a flood of forged tokens is to hold nobody else up. */
  isGenuine(): Promise<boolean>;
}

const verifyBeside = promisify<string, Buffer, VerifyKeyObjectInput, Buffer, boolean>(verify);

/**
 * Reads what could be a token of ours that has not expired. Every reason not to is the same answer, so none is given.
 * Whether it was revoked or belongs to a client that is gone is looked at each time it is used, not here.
 */
export function readAccessToken(
  text: string,
  keys: SigningKey[],
  issuer: string,
  nowMs: number,
): UnprovenToken | undefined {
  if (!isTokenShaped(text)) return undefined;
  const [head = '', body = '', signature = ''] = text.split('.');
  const header = decode(head);
  if (header === undefined || header.typ !== tokenType || 'crit' in header) return undefined;
  const key = typeof header.kid === 'string' ? verifyingKey(keys, header.kid, nowMs) : undefined;
  // The algorithm is the key's: what the token says can only agree with it.
  if (key === undefined || header.alg !== key.alg) return undefined;
  // What it says comes first because the signature costs fifty times as much: most tokens that are none have expired.
  const claims = decode(body);
  const token = claims === undefined ? undefined : readClaims(claims, key.kid, issuer, nowMs);
  if (token === undefined || token.expiresAtMs <= nowMs) return undefined;
  const proof = Buffer.from(signature, 'base64url');
  // The last character has bits to spare, and decoding ignores them: one signature, one way to write it (RFC 8725).
  if (proof.toString('base64url') !== signature) return undefined;
  const signed = Buffer.from(text.slice(0, head.length + 1 + body.length));
  const verifying = { key: key.publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return { token, isGenuine: () => verifyBeside('sha256', signed, verifying, proof) };
}

function readClaims(
  claims: Record<string, unknown>,
  kid: string,
  issuer: string,
  nowMs: number,
): AccessToken | undefined {
  const { iss, aud, client_id, sub, scope, jti, rid, cv } = claims;
  const api = apiOfAudience(aud);
  const issuedAtMs = milliseconds(claims.iat);
  const notBeforeMs = 'nbf' in claims ? milliseconds(claims.nbf) : issuedAtMs;
  if (iss !== issuer || api === undefined || issuedAtMs === undefined) return undefined;
  const expiresAtMs = readExpiry(claims);
  if (expiresAtMs === undefined) return undefined;
  if (notBeforeMs === undefined || Math.max(issuedAtMs, notBeforeMs) > nowMs + clockSkewMs) return undefined;
  if (typeof client_id !== 'string' || sub !== client_id || typeof scope !== 'string') return undefined;
  if (typeof jti !== 'string' || typeof rid !== 'string' || typeof cv !== 'number') return undefined;
  return {
    jti,
    clientId: client_id,
    api,
    scopes: scopesOf(scope),
    issuedAtMs,
    expiresAtMs,
    registrationId: rid,
    credentialVersion: cv,
    kid,
  };
}

/** The two ways in which a token of ours says when it ends agree. */
function readExpiry({ exp, exp_ms }: Record<string, unknown>): number | undefined {
  return typeof exp_ms === 'number' && Math.floor(exp_ms / 1000) === exp ? exp_ms : undefined;
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function milliseconds(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
