import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { keyedHash, keyedHashOfBytes, sameText } from './secrets.ts';

const key = Buffer.from('a key of thirty-two bytes, or so');

test('a keyed hash is HMAC-SHA-256 (RFC 4231, test cases 1 and 2)', () => {
  assert.equal(
    keyedHash(Buffer.alloc(20, 0x0b), 'Hi There').toString('hex'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  assert.equal(
    keyedHash(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('it is the same for texts of any length and script, whatever was hashed before', () => {
  for (const letter of ['a', 'ü', '€', '😀', '\ud83d', '\0']) {
    for (const length of [0, 1, 63, 64, 65, 300, 511, 512, 513, 1024, 70_000, 2]) {
      const text = letter.repeat(length);
      assert.deepEqual(keyedHash(key, text), createHmac('sha256', key).update(text).digest(), `${letter} × ${length}`);
    }
  }
});

test('a text and the bytes behind it, of any length', () => {
  for (const text of ['', 'id.1700000000.', '€'.repeat(400), 'a'.repeat(2000)])
    for (const length of [0, 1, 300, 334, 335, 336, 1494, 1536, 1537, 70_000]) {
      const bytes = Buffer.alloc(length, 0xe9);
      const right = createHmac('sha256', key).update(text).update(bytes).digest();
      assert.deepEqual(keyedHashOfBytes(key, text, bytes), right, `${text.length} + ${length}`);
    }
});

test('it is the same for keys of any length', () => {
  for (const length of [0, 1, 63, 64, 65, 200]) {
    const other = Buffer.alloc(length, 7);
    assert.deepEqual(keyedHash(other, 'text'), createHmac('sha256', other).update('text').digest(), String(length));
  }
});

test('its result is not written over by the next one', () => {
  const first = keyedHash(key, 'first');
  const copy = Buffer.from(first);
  keyedHash(key, 'second');
  assert.deepEqual(first, copy);
});

test('two texts are the same only if they are equal', () => {
  assert.equal(sameText(key, 'secret', 'secret'), true);
  assert.equal(sameText(key, 'secret', 'secret '), false);
});
