import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBase62, randomBytes, randomFraction } from './random.ts';

/** Chi squared over the counts; its mean is the number of kinds less one. */
function chiSquared(counts: number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

test('every character of base62 is as likely as every other', () => {
  const text = randomBase62(620_000);
  assert.match(text, /^[0-9A-Za-z]{620000}$/);
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  assert.equal(counts.size, 62);
  // Folding all 256 bytes onto 62 characters would give about 2,400; 61 ± 11 is fair, and 160 is never met by chance.
  assert.ok(chiSquared([...counts.values()]) < 160);
});

test('lengths are exact, from nothing to more than the pool holds', () => {
  for (const length of [0, 1, 7, 43, 8191, 8192, 8193, 20_000]) {
    assert.equal(randomBase62(length).length, length);
    assert.equal(randomBytes(length).length, length);
  }
});

test('no bytes are handed out twice, and what was handed out does not change afterwards', () => {
  const handed = Array.from({ length: 2000 }, () => randomBytes(16));
  const texts = handed.map((bytes) => bytes.toString('hex'));
  assert.equal(new Set(texts).size, 2000);
  randomBytes(8192);
  assert.deepEqual(
    handed.map((bytes) => bytes.toString('hex')),
    texts,
  );
});

test('bytes are uniform across the edges of the pool', () => {
  const counts = new Array<number>(256).fill(0);
  for (let count = 0; count < 20_000; count++) {
    for (const byte of randomBytes(13)) counts[byte] = (counts[byte] ?? 0) + 1;
  }
  assert.ok(chiSquared(counts) < 420);
});

test('fractions lie in [0, 1) and fill it', () => {
  const values = Array.from({ length: 10_000 }, randomFraction);
  assert.ok(values.every((value) => value >= 0 && value < 1));
  const tenths = new Array<number>(10).fill(0);
  for (const value of values) tenths[Math.floor(value * 10)] = (tenths[Math.floor(value * 10)] ?? 0) + 1;
  assert.ok(chiSquared(tenths) < 60);
});
