import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attemptWaitsMs, readRetryAfter, waitAfterMs } from './schedule.ts';

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

test('ten attempts, each within a tenth of its wait', () => {
  fc.assert(
    fc.property(fraction, fc.integer({ min: 1, max: 9 }), (chance, attempts) => {
      const waitMs = waitAfterMs(attempts, { fraction: chance }) ?? Number.NaN;
      const plain = attemptWaitsMs[attempts] ?? Number.NaN;
      assert.ok(waitMs >= plain * 0.9 && waitMs <= plain * 1.1, `${waitMs} for ${plain}`);
    }),
  );
  assert.equal(waitAfterMs(10, { fraction: 0.5 }), undefined);
  assert.deepEqual(
    attemptWaitsMs.map((ms) => ms / 1000),
    [0, 5, 30, 120, 600, 1800, 7200, 21_600, 43_200, 86_400],
  );
});

test('an endpoint may ask for more time, up to the next wait, and never for less', () => {
  fc.assert(
    fc.property(
      fraction,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 1e9 }),
      (chance, attempts, asked) => {
        const plain = waitAfterMs(attempts, { fraction: chance }) ?? Number.NaN;
        const waitMs = waitAfterMs(attempts, { fraction: chance, retryAfterMs: asked }) ?? Number.NaN;
        const most = attemptWaitsMs[attempts + 1] ?? attemptWaitsMs[9];
        assert.equal(waitMs, Math.max(plain, Math.min(asked, most)));
      },
    ),
  );
});

test('Retry-After is read as seconds or as a date', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(readRetryAfter('120', nowMs), 120_000);
  assert.equal(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', nowMs), 60_000);
  assert.equal(readRetryAfter('Thu, 01 Jan 2015 00:01:00 GMT', nowMs), 0);
  for (const bad of [undefined, '', 'soon', '-5', '1e9', '9'.repeat(50)])
    assert.equal(readRetryAfter(bad, nowMs), undefined, String(bad));
});
