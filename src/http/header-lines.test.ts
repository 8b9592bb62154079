import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOf, withHeaders } from './header-lines.ts';

const name = fc.constantFrom(
  'RateLimit',
  'RateLimit-Limit',
  'Limit',
  'Retry-After',
  'Cache-Control',
  'A',
  'Vary',
  'X-A',
);
const headers = fc.dictionary(name, fc.constantFrom('1', 'no-store', '"a: b";r=1', 'RateLimit: 2', ''));

test('headers replace those of the same name, and no other', () => {
  fc.assert(
    fc.property(headers, headers, (before, after) => {
      const lines = withHeaders(linesOf(before), after);
      const read = lines.split('\r\n').slice(0, -1);
      const expected = Object.entries({ ...before, ...after }).map(([key, value]) => `${key}: ${value}`);
      assert.deepEqual(new Set(read), new Set(expected));
      assert.equal(read.length, expected.length);
    }),
  );
});
