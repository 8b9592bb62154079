import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createShortHmac, longestShortText } from './short-hmac.ts';

function expected(key: Uint8Array, text: string): number[] {
  const hash = createHmac('sha256', key).update(text).digest();
  return [0, 2, 4, 6].map((at) => hash.readUInt16BE(at));
}

test('property: the same as the HMAC of node:crypto, for every key and every text it takes', () => {
  const key = fc.uint8Array({ minLength: 0, maxLength: 64 });
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
    maxLength: longestShortText,
  });
  fc.assert(
    fc.property(key, fc.array(text, { minLength: 1, maxLength: 5 }), (bytes, texts) => {
      const hmac = createShortHmac(bytes);
      for (const each of texts) assert.deepEqual([...hmac(each)], expected(bytes, each));
    }),
    { numRuns: 2000 },
  );
});

test('every length of text, and two keys in turns', () => {
  const keys = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const hmacs = keys.map(createShortHmac);
  for (let length = 0; length <= longestShortText; length++) {
    const text = 'x'.repeat(length);
    for (const [index, key] of keys.entries()) assert.deepEqual([...(hmacs[index]?.(text) ?? [])], expected(key, text));
  }
});

test('it refuses what it cannot hash', () => {
  const hmac = createShortHmac(new Uint8Array(32));
  assert.throws(() => hmac('x'.repeat(longestShortText + 1)), /does not fit/);
  assert.throws(() => hmac('é'), /not ASCII/);
  assert.throws(() => createShortHmac(new Uint8Array(65)), /longer than a block/);
});
