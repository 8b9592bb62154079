import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import { type Limiter, onItsWay, pro, sixty } from '../../test/support/limiter-model.ts';
import { describeLimiter } from '../../test/support/limiter-suite.ts';
import { createSlidingWindow, decide, exactMs, giveBack, isIdle, peek, type SlidingWindow } from './sliding-window.ts';

/** The smallest time step of the limiter. */
const tickMs = 1 / 1024;

function limiterOn(window: SlidingWindow): Limiter {
  return {
    decide: (limits, nowMs, quietMs) => decide(window, limits, nowMs, quietMs),
    peek: (limits, nowMs) => peek(window, limits, nowMs),
    giveBack: (decision, nowMs) => giveBack(window, decision, nowMs),
    copy: () => limiterOn(structuredClone(window)),
  };
}

describeLimiter('windows in this process', {
  newLimiter: () => limiterOn(createSlidingWindow()),
  tickMs,
  effort: inShort({ steps: 2000, fills: 1.2, runs: 40 }, { steps: 20_000, fills: 5, runs: 500 }),
});

/** Sends this many at once. */
function send(window: SlidingWindow, limits: typeof sixty, nowMs: number, count = 1): void {
  for (let sent = 0; sent < count; sent++) decide(window, limits, nowMs, onItsWay);
}

test('a refusal keeps nothing, and a peek leaves the window as it is', () => {
  const window = createSlidingWindow();
  send(window, sixty, 0, 500);
  assert.equal(window.count, 20);
  const before = structuredClone(window);
  for (let nowMs = 0; nowMs < 1000; nowMs += 50) peek(window, sixty, nowMs);
  assert.deepEqual({ ...window, seenMs: 0 }, { ...before, seenMs: 0 });
});

test('after a downgrade the larger ring is given back', () => {
  const window = createSlidingWindow();
  send(window, pro, 0, 200);
  assert.ok(window.times.length > 60);
  send(window, sixty, 60_000);
  assert.ok(window.times.length <= 60);
});

test('a window is idle when nothing counts and no lockout is open', () => {
  const window = createSlidingWindow();
  assert.equal(isIdle(window, 0), true);
  send(window, { perMinute: 1, burst: 1 }, 0);
  assert.equal(isIdle(structuredClone(window), 59_999), false);
  assert.equal(isIdle(structuredClone(window), 60_000), true);
  send(window, { perMinute: 1, burst: 1 }, 59_000);
  send(window, { perMinute: 1, burst: 1 }, 59_500);
  assert.equal(isIdle(window, 60_500), false, 'the lockout was moved to 61,000');
  assert.equal(isIdle(window, 61_000), true);
});

test('a ring grows with use up to its limit, and an idle one is given back', () => {
  const window = createSlidingWindow();
  const lengths = new Set<number>();
  for (let sent = 0; sent < 6000; sent++) {
    decide(window, { perMinute: 6000, burst: 6000 }, 0, onItsWay);
    lengths.add(window.times.length);
  }
  assert.deepEqual([...lengths], [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6000]);
  assert.equal(isIdle(window, 60_000), true);
  assert.equal(window.times.length, 0);
});

test('with readings in nanoseconds, as the real clock gives them, waiting the exact time still admits', () => {
  const limits = { perMinute: 1, burst: 1 };
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 31 - 1 }), fc.nat({ max: 2 ** 20 }), (low, high) => {
      const readingMs = (high * 2 ** 31 + low) / 1e6;
      const nowMs = exactMs(readingMs);
      assert.ok(nowMs <= readingMs && readingMs - nowMs < 2 * tickMs);
      const window = createSlidingWindow();
      decide(window, limits, nowMs, onItsWay);
      assert.equal(decide(window, limits, nowMs, onItsWay).retryAfterMs, 60_000);
      assert.equal(decide(window, limits, exactMs(readingMs + 60_000), onItsWay).admitted, true);
    }),
    { numRuns: inShort(500, 2000) },
  );
});
