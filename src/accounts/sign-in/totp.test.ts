import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codeOf, findStep, otpauthUri, stepAt, toBase32 } from './totp.ts';

const secret = Buffer.from('12345678901234567890');

test('codes are those of RFC 6238, appendix B, cut to six digits', () => {
  const vectors: [number, string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of vectors) assert.equal(codeOf(secret, stepAt(seconds * 1000)), code.slice(-6));
});

test('a code is found in its step and one step around it, and nowhere else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 2 ** 31 }), fc.integer({ min: -3, max: 3 }), (step, off) => {
      const code = codeOf(secret, step + off);
      const near = [step - 1, step, step + 1].filter((each) => codeOf(secret, each) === code);
      assert.equal(findStep(secret, code, step * 30_000 + 12_345), near[0]);
    }),
    { numRuns: 300 },
  );
});

test('a text that is not a code is not found', () => {
  for (const text of ['', '1', '12345', '1234567', 'abcdef', '１２３４５６'])
    assert.equal(findStep(secret, text, 59_000), undefined);
});

test('base 32 is that of RFC 4648', () => {
  const vectors: [string, string][] = [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ];
  for (const [plain, text] of vectors) assert.equal(toBase32(Buffer.from(plain)), text);
});

test('the address for authenticator apps names issuer and person', () => {
  assert.equal(
    otpauthUri(secret, { issuer: 'Heliograph sms.example.com', email: 'a+b@example.com' }),
    'otpauth://totp/Heliograph%20sms.example.com:a%2Bb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' +
      '&issuer=Heliograph%20sms.example.com&algorithm=SHA1&digits=6&period=30',
  );
});
