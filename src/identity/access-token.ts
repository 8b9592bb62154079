import { type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Scope } from '../http/route.ts';
import { toDerSignature } from '../platform/crypto/es256-signature.ts';
import { isObject } from '../platform/is-object.ts';
import { apiOfAudience, audienceOf, scopesOf, type TokenApi } from './scopes.ts';
import { type SigningKey, verifyingKey } from './signing-keys.ts';
import type { TokenChecksums } from './token-checksum.ts';

/** The claims of one of our tokens, which do not change while it is valid. */
export interface AccessToken {
  jti: string;
  clientId: string;
  api: TokenApi;
  scopes: string[];
  issuedAtMs: number;
  /** In milliseconds, so that a token lives exactly `expires_in`: `exp` counts whole seconds. */
  expiresAtMs: number;
  /**
   * The registration it was issued for. A registration that is removed and created again has another id, so its old
   * tokens stay invalid.
   */
  registrationId: string;
  /** Must equal the client's version: rotating a secret without overlap ends all tokens. */
  credentialVersion: number;
  /** The key that signed it. Once that key is withdrawn, the token is invalid. */
  kid: string;
}

const longest = 4096;
export const tokenType = 'at+jwt';
/** Each node's clock may differ from the database's by half of this, in either direction. */
const clockSkewMs = 4000;

/** What all tokens of one registration have in common. */
export interface TokenGrant {
  clientId: string;
  scope: string;
  registrationId: string;
  credentialVersion: number;
  /** Its claims as JSON, without the brackets: written once, because every token repeats them. */
  claims: string;
}

export function createTokenGrant(
  issuer: string,
  api: TokenApi,
  apiScope: Scope,
  {
    clientId,
    registrationId,
    credentialVersion,
  }: Pick<TokenGrant, 'clientId' | 'registrationId' | 'credentialVersion'>,
): TokenGrant {
  const scope = `openid ${apiScope}`;
  const claims = JSON.stringify({
    iss: issuer,
    sub: clientId,
    aud: audienceOf(api),
    client_id: clientId,
    azp: clientId,
    scope,
    rid: registrationId,
    cv: credentialVersion,
  });
  return { clientId, scope, registrationId, credentialVersion, claims: claims.slice(1, -1) };
}

/** `jti` has characters of base64url only: it is not escaped. */
export function writeAccessToken(
  { clientId, scope, registrationId, credentialVersion, claims }: TokenGrant,
  checksums: TokenChecksums,
  { jti, nowMs, seconds }: { jti: string; nowMs: number; seconds: number },
): string {
  const exp_ms = nowMs + seconds * 1000;
  const iat = Math.floor(nowMs / 1000);
  // Rounded like `iat`, so that both are `expires_in` apart. Our check uses `exp_ms`.
  const exp = Math.floor(exp_ms / 1000);
  const chk = checksums.of({ jti, client_id: clientId, rid: registrationId, cv: credentialVersion, scope, exp_ms });
  return `{${claims},"iat":${iat},"exp":${exp},"jti":"${jti}","exp_ms":${exp_ms},"chk":"${chk}"}`;
}

/** True for text that could be a token: three base64url parts, not too long. Decodes nothing. */
export function isTokenShaped(text: string): boolean {
  return text.length <= longest && /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text);
}

/**
 * Returns the id of a token that we can have issued and that has not expired. Rejects made-up tokens without checking
 * the signature.
 */
export function readTokenId(text: string, checksums: TokenChecksums, nowMs: number): string | undefined {
  if (!isTokenShaped(text)) return undefined;
  const claims = decode(text.slice(text.indexOf('.') + 1, text.lastIndexOf('.')));
  if (claims === undefined || typeof claims.jti !== 'string') return undefined;
  const expiresAtMs = readExpiry(claims);
  if (expiresAtMs === undefined || expiresAtMs <= nowMs) return undefined;
  return checksums.isRight(claims) ? claims.jti : undefined;
}

/** A token with valid claims whose signature is not checked yet. */
export interface UnprovenToken {
  token: AccessToken;
  /** Runs in the thread pool, so that a flood of forged tokens delays no other request. */
  isGenuine(): Promise<boolean>;
}

const verifyBeside = promisify<string, Buffer, KeyObject, Buffer, boolean>(verify);

/**
 * Reads a token that could be ours and has not expired. All reasons to refuse give the same result. Revocation and a
 * deleted client are checked at every use, not here.
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
  // The key decides the algorithm; the token's `alg` must match it.
  if (key === undefined || header.alg !== key.alg) return undefined;
  // Check the claims first: the signature costs fifty times as much, and most bad tokens have expired.
  const claims = decode(body);
  const token = claims === undefined ? undefined : readClaims(claims, key.kid, issuer, nowMs);
  if (token === undefined || token.expiresAtMs <= nowMs) return undefined;
  const proof = Buffer.from(signature, 'base64url');
  // The last character has unused bits that decoding ignores. Accept only one spelling of a signature (RFC 8725).
  if (proof.toString('base64url') !== signature) return undefined;
  const written = key.alg === 'ES256' ? toDerSignature(proof) : proof;
  if (written === undefined) return undefined;
  const signed = Buffer.from(text.slice(0, head.length + 1 + body.length));
  return { token, isGenuine: () => verifyBeside('sha256', signed, key.publicKey, written) };
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

/** `exp` and `exp_ms` must agree. */
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
