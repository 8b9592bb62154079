import { type SignKeyObjectInput, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningKey } from './signing-keys.ts';

const signBeside = promisify<string, Buffer, SignKeyObjectInput, Buffer>(sign);

/** Caches the encoded header, which is the same for every JWS of one key and type. */
const headers = new WeakMap<SigningKey, Map<string, string>>();

/**
 * Signs a compact JWS (RFC 7515). Uses `node:crypto`: Web Crypto takes three times as long, and the signature is nearly
 * the whole cost of a token. Runs in the thread pool, so that many token requests delay no other caller.
 */
export async function signJws(key: SigningKey, typ: string, claims: object): Promise<string> {
  const signed = `${headerOf(key, typ)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const encoding = key.alg === 'ES256' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {};
  const signature = await signBeside('sha256', Buffer.from(signed), { key: key.privateKey, ...encoding });
  return `${signed}.${signature.toString('base64url')}`;
}

function headerOf(key: SigningKey, typ: string): string {
  const own = headers.get(key) ?? new Map<string, string>();
  headers.set(key, own);
  let header = own.get(typ);
  if (header === undefined) {
    header = Buffer.from(JSON.stringify({ alg: key.alg, typ, kid: key.kid })).toString('base64url');
    own.set(typ, header);
  }
  return header;
}
