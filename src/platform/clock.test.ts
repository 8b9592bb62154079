import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toTimestamp } from './clock.ts';

test('a timestamp is what toISOString writes, near and far, in any order', () => {
  const time = fc.oneof(
    fc.integer({ min: 0, max: 4_102_444_800_000 }),
    // Times within three hours: several of them use the same slot of the cache and overwrite it.
    fc.integer({ min: 0, max: 10_000_000 }).map((ms) => 1_790_000_000_000 + ms),
    fc.constantFrom(0, 999, 59_999, 60_000, 86_399_999, 951_782_400_000),
  );
  fc.assert(
    fc.property(fc.array(time, { minLength: 1, maxLength: 50 }), (times) => {
      for (const ms of times) assert.equal(toTimestamp(ms), new Date(ms).toISOString());
    }),
    { numRuns: 2000 },
  );
  assert.equal(toTimestamp(1_790_000_000_000.9), new Date(1_790_000_000_000).toISOString());
});

test('times are written as RFC 3339 in UTC with milliseconds', () => {
  assert.equal(toTimestamp(0), '1970-01-01T00:00:00.000Z');
  assert.equal(toTimestamp(1_767_323_045_678), '2026-01-02T03:04:05.678Z');
});
