import assert from 'node:assert/strict';
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { toDerSignature, toJwsSignature } from './es256-signature.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const joined = 'ieee-p1363' as const;

test('a signature that OpenSSL made is valid in the form of a JWS, and in DER again', () => {
  // One of 256 has a number that is shorter than 32 bytes.
  for (let count = 0; count < 1500; count++) {
    const data = Buffer.from(`text ${count}`);
    const der = sign('sha256', data, privateKey);
    const signature = toJwsSignature(der);
    assert.deepEqual(toDerSignature(signature), der);
    if (count % 10 === 0 || der.length < 70)
      assert.ok(verify('sha256', data, { key: publicKey, dsaEncoding: joined }, signature));
  }
});

/** Numbers with zeros in front are rare among real signatures. */
const number = fc
  .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([zeros, bytes]) => Buffer.concat([Buffer.alloc(zeros), bytes]).subarray(0, 32));

test('any two numbers come back as they were', () => {
  fc.assert(
    fc.property(number, number, (r, s) => {
      const signature = Buffer.concat([r, s]);
      const der = toDerSignature(signature);
      assert.ok(der !== undefined);
      assert.deepEqual(toJwsSignature(der), signature);
    }),
  );
});

test('made-up signatures are as invalid as Node finds them', () => {
  const data = Buffer.from('text');
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.tuple(number, number).map(Buffer.concat)), (bytes) => {
      const signature = Buffer.from(bytes);
      const der = toDerSignature(signature);
      const isValid = der !== undefined && verify('sha256', data, publicKey, der);
      assert.equal(isValid, verify('sha256', data, { key: publicKey, dsaEncoding: joined }, signature));
    }),
    { numRuns: 50 },
  );
});
