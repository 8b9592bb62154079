import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type ApiError, invalidField } from '../../platform/errors.ts';
import { isObject } from '../../platform/is-object.ts';

export const clientKeyAlgs = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export type ClientKeyAlg = (typeof clientKeyAlgs)[number];

/** An RSA key of 4096 bits takes about 800 characters, in PEM and as a JWK. */
export const longestPublicKey = 4000;

export interface ReadPublicKey {
  /** The kid of a JWK, else the thumbprint. */
  kid: string;
  /** RFC 7638. */
  thumbprint: string;
  alg: ClientKeyAlg;
  /** SubjectPublicKeyInfo. */
  spki: Buffer;
}

const rsaBits = { least: 2048, most: 4096 };

/** Reads a public key in PEM or as a JWK. Each key has one algorithm (RFC 8725, section 3.1). */
export function readPublicKey(text: string, askedAlg?: ClientKeyAlg): ReadPublicKey {
  const trimmed = text.trim();
  const { key, kid, alg } = trimmed.startsWith('{') ? readJwk(trimmed) : { key: readPem(trimmed) };
  const possible = algsOf(key);
  const wanted = askedAlg ?? (alg as ClientKeyAlg | undefined) ?? possible[0];
  if (wanted === undefined || !possible.includes(wanted)) {
    const expected = possible.join(' or ');
    throw invalidField(askedAlg === undefined ? 'public_key' : 'alg', `must be ${expected} for this kind of key`);
  }
  const thumbprint = thumbprintOf(key);
  return { kid: kid ?? thumbprint, thumbprint, alg: wanted, spki: key.export({ type: 'spki', format: 'der' }) };
}

function readPem(text: string): KeyObject {
  if (text.includes('PRIVATE KEY')) throw isPrivate();
  if (text.includes('CERTIFICATE'))
    throw invalidField('public_key', 'is a certificate: send its key, from openssl x509 -pubkey -noout');
  if (!/^-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(text)) throw unreadable();
  try {
    return createPublicKey({ key: text, format: 'pem' });
  } catch {
    throw unreadable();
  }
}

function readJwk(text: string): { key: KeyObject; kid: string | undefined; alg: string | undefined } {
  const jwk = parseObject(text);
  if ('keys' in jwk) throw invalidField('public_key', 'is a set of keys: send one of them');
  if ('d' in jwk || 'k' in jwk) throw isPrivate();
  if ('use' in jwk && jwk.use !== 'sig') throw invalidField('public_key', 'must have the use sig');
  const { kid } = jwk;
  if (kid !== undefined && !(typeof kid === 'string' && /^[\x21-\x7e]{1,128}$/.test(kid)))
    throw invalidField('public_key', 'must have a kid of 1 to 128 visible ASCII characters, or none');
  return { key: importJwk(jwk), kid, alg: algOf(jwk.alg) };
}

function importJwk({ kty, crv, x, y, n, e }: Record<string, unknown>): KeyObject {
  try {
    return createPublicKey({ key: { kty, crv, x, y, n, e } as JsonWebKey, format: 'jwk' });
  } catch {
    throw unreadable();
  }
}

/** RFC 9864 writes Ed25519 for what RFC 8037 wrote EdDSA. */
function algOf(alg: unknown): string | undefined {
  if (alg === undefined) return undefined;
  return alg === 'Ed25519' ? 'EdDSA' : String(alg).slice(0, 20);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Text that cannot be parsed is refused below.
  }
  throw unreadable();
}

/** The algorithms of a key, the usual one first. */
function algsOf(key: KeyObject): ClientKeyAlg[] {
  const { modulusLength = 0, publicExponent, namedCurve } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'ec':
      if (namedCurve === 'prime256v1') return ['ES256'];
      break;
    case 'ed25519':
      return ['EdDSA'];
    case 'rsa':
      if (modulusLength < rsaBits.least || modulusLength > rsaBits.most || publicExponent !== 65537n)
        throw invalidField('public_key', 'must be an RSA key of 2048 to 4096 bits with the exponent 65537');
      return ['RS256', 'PS256'];
    default:
  }
  throw invalidField('public_key', 'must be an EC key on P-256, an Ed25519 key, or an RSA key');
}

function thumbprintOf(key: KeyObject): string {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
  const members = kty === 'RSA' ? { e, kty, n } : kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x };
  return hash('sha256', JSON.stringify(members), 'base64url');
}

function unreadable(): ApiError {
  return invalidField('public_key', 'must be a public key: PEM that begins with -----BEGIN PUBLIC KEY-----, or a JWK');
}

/** The private key has been sent to us, so its owner must replace the pair. */
function isPrivate(): ApiError {
  return invalidField('public_key', 'is a private key: make a new pair, and send only its public key');
}
