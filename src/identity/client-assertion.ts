import { constants, hash, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { toDerSignature } from '../platform/crypto/es256-signature.ts';
import { isObject } from '../platform/is-object.ts';
import type { KnownClientKey } from '../registry/client-keys/known-keys.ts';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
export const longestAssertion = 4096;
const longestJti = 512;
const longestLifeMs = 5 * 60_000;
/** How far the clock of a client may be off. */
export const clientSkewMs = 30_000;

/** An assertion of RFC 7523 with right claims whose signature is not checked yet. */
export interface ClientAssertion {
  clientId: string;
  /** Identifies the assertion by its client and `jti`, because it may be used only once. */
  id: Buffer;
  expiresAtMs: number;
  alg: string;
  kid: string | undefined;
  signed: Buffer;
  signature: Buffer;
}

/** All reasons to refuse give the same result. */
export function readAssertion(text: string, audiences: string[], nowMs: number): ClientAssertion | undefined {
  if (text.length > longestAssertion || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return undefined;
  const [head = '', body = '', proof = ''] = text.split('.');
  const header = decode(head);
  if (header === undefined || 'crit' in header || !isRightType(header.typ)) return undefined;
  const { alg, kid } = header;
  if (typeof alg !== 'string' || !(kid === undefined || typeof kid === 'string')) return undefined;
  const claims = decode(body);
  const read = claims && readClaims(claims, audiences, nowMs);
  if (read === undefined) return undefined;
  const signature = Buffer.from(proof, 'base64url');
  // Accept only one spelling of a signature, as for our tokens.
  if (signature.toString('base64url') !== proof) return undefined;
  const { clientId, jti, expiresAtMs } = read;
  const id = Buffer.from(hash('sha256', `${clientId}\n${jti}`, 'hex'), 'hex');
  return {
    ...{ clientId, id, expiresAtMs, kid, signature },
    // RFC 9864 writes Ed25519 for what RFC 8037 wrote EdDSA.
    alg: alg === 'Ed25519' ? 'EdDSA' : alg,
    signed: Buffer.from(text.slice(0, head.length + 1 + body.length)),
  };
}

/** A JWT for another purpose says so in its `typ` (RFC 8725, section 3.11). */
function isRightType(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(?:jwt|client-authentication\+jwt)$/i.test(typ));
}

function readClaims(claims: Record<string, unknown>, audiences: string[], nowMs: number) {
  const { iss, sub, jti } = claims;
  if (typeof sub !== 'string' || iss !== sub) return undefined;
  if (typeof jti !== 'string' || jti === '' || jti.length > longestJti) return undefined;
  // A second audience could use the assertion here.
  const aud = Array.isArray(claims.aud) && claims.aud.length === 1 ? claims.aud[0] : claims.aud;
  if (typeof aud !== 'string' || !audiences.includes(aud)) return undefined;
  const expiresAtMs = milliseconds(claims.exp);
  if (expiresAtMs === undefined) return undefined;
  const issuedAtMs = 'iat' in claims ? milliseconds(claims.iat) : nowMs;
  const notBeforeMs = 'nbf' in claims ? milliseconds(claims.nbf) : issuedAtMs;
  if (issuedAtMs === undefined || notBeforeMs === undefined) return undefined;
  if (Math.max(issuedAtMs, notBeforeMs) > nowMs + clientSkewMs || expiresAtMs <= nowMs - clientSkewMs) return undefined;
  const isShort = expiresAtMs - issuedAtMs <= longestLifeMs && expiresAtMs <= nowMs + longestLifeMs + clientSkewMs;
  return isShort ? { clientId: sub, jti, expiresAtMs } : undefined;
}

/** The keys that can have signed it. */
export function possibleKeys({ alg, kid }: ClientAssertion, keys: KnownClientKey[]): KnownClientKey[] {
  const isNamed = (key: KnownClientKey) => kid === undefined || key.kid === kid || key.thumbprint === kid;
  // The key decides the algorithm; the assertion's `alg` must match it.
  return keys.filter((key) => key.alg === alg && isNamed(key));
}

const verifyBeside = promisify<string | null, Buffer, VerifyKeyObjectInput, Buffer, boolean>(verify);

/** Runs in the thread pool, so that a flood of forged assertions delays no other request. */
export async function isSignedBy({ signed, signature }: ClientAssertion, key: KnownClientKey): Promise<boolean> {
  const { publicKey, alg } = key;
  const digest = alg === 'EdDSA' ? null : 'sha256';
  const written = alg === 'ES256' ? toDerSignature(signature) : signature;
  if (written === undefined) return false;
  return verifyBeside(digest, signed, { key: publicKey, ...paddingOf(alg) }, written).catch(() => false);
}

function paddingOf(alg: KnownClientKey['alg']): Omit<VerifyKeyObjectInput, 'key'> {
  if (alg !== 'PS256') return {};
  return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
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
