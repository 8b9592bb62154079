import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { ApiError } from '../../platform/errors.ts';
import { readPublicKey } from './public-key.ts';

const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const;
const pem = (key: KeyObject, type: 'spki' | 'pkcs1' | 'pkcs8' = 'spki') => String(key.export({ type, format: 'pem' }));

test('PEM and JWK of the same key give the same key, with the thumbprint of RFC 7638', async () => {
  for (const [alg, { publicKey }] of Object.entries(pairs)) {
    const jwk = await exportJWK(publicKey);
    const thumbprint = await calculateJwkThumbprint(jwk);
    const read = readPublicKey(`\n${pem(publicKey)}\n`);
    assert.deepEqual([read.alg, read.kid, read.thumbprint], [alg, thumbprint, thumbprint]);
    const named = readPublicKey(
      JSON.stringify({ ...jwk, kid: 'mine', use: 'sig', alg: alg === 'EdDSA' ? 'Ed25519' : alg }),
    );
    assert.deepEqual(named, { ...read, kid: 'mine' });
  }
  assert.equal(readPublicKey(pem(pairs.RS256.publicKey, 'pkcs1')).alg, 'RS256');
  assert.equal(readPublicKey(pem(pairs.RS256.publicKey), 'PS256').alg, 'PS256');
  const jwk = { ...(await exportJWK(pairs.RS256.publicKey)), alg: 'PS256' };
  assert.equal(readPublicKey(JSON.stringify(jwk)).alg, 'PS256');
});

function refusal(text: string, alg?: Parameters<typeof readPublicKey>[1]): string {
  try {
    readPublicKey(text, alg);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 'INVALID_ARGUMENT');
    return error.details?.map(({ field, message }) => `${field} ${message}`).join() ?? '';
  }
  return assert.fail(`${text.slice(0, 60)} was read`);
}

test('a private key is refused as one, in each form', async () => {
  for (const { privateKey } of Object.values(pairs)) {
    assert.match(refusal(pem(privateKey, 'pkcs8')), /is a private key/);
    assert.match(refusal(JSON.stringify(await exportJWK(privateKey))), /is a private key/);
  }
  assert.match(refusal(JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' })), /is a private key/);
});

test('what is no key, weak or of another kind is refused with what would be right', async () => {
  const ec = await exportJWK(pairs.ES256.publicKey);
  for (const text of [
    '',
    'key',
    '{',
    '[]',
    '{"kty":"EC"}',
    'ssh-ed25519 AAAA',
    pem(pairs.ES256.publicKey).slice(0, 80),
  ])
    assert.match(refusal(text), /public_key must be a public key/, text);
  assert.match(refusal(JSON.stringify({ ...ec, x: ec.y })), /must be a public key/, 'a point off the curve');
  assert.match(refusal(JSON.stringify({ keys: [ec] })), /a set of keys/);
  assert.match(refusal(JSON.stringify({ ...ec, use: 'enc' })), /use sig/);
  for (const kid of ['', 'x'.repeat(129), 'with space', 1])
    assert.match(refusal(JSON.stringify({ ...ec, kid })), /a kid of 1 to 128/);
  assert.match(refusal(JSON.stringify({ ...ec, alg: 'HS256' })), /public_key must be ES256/);
  assert.match(refusal(pem(pairs.ES256.publicKey), 'RS256'), /alg must be ES256/);
  assert.match(refusal(pem(pairs.RS256.publicKey), 'ES256'), /alg must be RS256 or PS256/);
  assert.match(refusal('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'), /openssl x509 -pubkey/);
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  assert.match(refusal(pem(p384)), /P-256, an Ed25519 key, or an RSA key/);
  assert.match(refusal(pem(generateKeyPairSync('x25519').publicKey)), /P-256, an Ed25519 key, or an RSA key/);
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const odd = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey;
  for (const key of [short, odd]) assert.match(refusal(pem(key)), /2048 to 4096 bits with the exponent 65537/);
});
