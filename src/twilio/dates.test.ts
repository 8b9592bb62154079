import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRfc2822, toSeconds } from './dates.ts';

const noonMs = Date.UTC(2026, 0, 31, 12);

test('dates of both APIs, whole seconds in UTC', () => {
  assert.equal(toSeconds(noonMs + 999), '2026-01-31T12:00:00Z');
  assert.equal(toRfc2822(noonMs + 999), 'Sat, 31 Jan 2026 12:00:00 +0000');
  assert.equal(toRfc2822(noonMs + 1000), 'Sat, 31 Jan 2026 12:00:01 +0000');
  assert.equal(toRfc2822(noonMs), 'Sat, 31 Jan 2026 12:00:00 +0000');
});
