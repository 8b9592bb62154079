import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { toJwsSignature } from '../platform/crypto/es256-signature.ts';
import type { SigningKey } from './signing-keys.ts';

/** The fields of a key that a signature needs. */
export type JwsKey = Pick<SigningKey, 'kid' | 'alg' | 'privateKey'>;

/** Makes a compact JWS (RFC 7515) of claims that are JSON already. */
export type JwsSigner = (key: JwsKey, typ: string, claims: string) => Promise<string>;

const signBeside = promisify<string, Buffer, KeyObject, Buffer>(sign);

/** Signs in Node's thread pool, so that a signature delays no other caller. */
export const signJwsInPool: JwsSigner = async (key, typ, claims) => {
  const text = signedText(key, typ, claims);
  return withSignature(text, key, await signBeside('sha256', Buffer.from(text, 'latin1'), key.privateKey));
};

/** Signs where it is called: only the signing thread does that. Web Crypto would take three times as long. */
export function signJws(key: JwsKey, typ: string, claims: string): string {
  const text = signedText(key, typ, claims);
  return withSignature(text, key, sign('sha256', Buffer.from(text, 'latin1'), key.privateKey));
}

function signedText(key: JwsKey, typ: string, claims: string): string {
  return `${headerOf(key, typ)}.${Buffer.from(claims).toString('base64url')}`;
}

function withSignature(text: string, { alg }: JwsKey, signature: Buffer): string {
  return `${text}.${(alg === 'ES256' ? toJwsSignature(signature) : signature).toString('base64url')}`;
}

/** Caches the encoded header, which is the same for every JWS of one key and type. */
const headers = new WeakMap<JwsKey, Map<string, string>>();

function headerOf(key: JwsKey, typ: string): string {
  const own = headers.get(key) ?? new Map<string, string>();
  headers.set(key, own);
  let header = own.get(typ);
  if (header === undefined) {
    header = Buffer.from(JSON.stringify({ alg: key.alg, typ, kid: key.kid })).toString('base64url');
    own.set(typ, header);
  }
  return header;
}
