import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningKey } from './signing-keys.ts';

const signBeside = promisify<string, Buffer, KeyObject, Buffer>(sign);

/** The first part is the same for all that a key signs of one type. */
const headers = new WeakMap<SigningKey, Map<string, string>>();

/**
 * A compact JWS (RFC 7515). By `node:crypto` directly: the same signature by Web Crypto costs three times as much, and a
 * token is hardly more than its signature. ES256 signs faster than it could be handed to another thread; RS256 does not.
 */
export async function signJws(key: SigningKey, typ: string, claims: object): Promise<string> {
  const signed = `${headerOf(key, typ)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const bytes = Buffer.from(signed);
  const signature =
    key.alg === 'ES256'
      ? sign('sha256', bytes, { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
      : await signBeside('sha256', bytes, key.privateKey);
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
