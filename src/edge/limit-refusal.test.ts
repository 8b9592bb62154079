import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onItsWay } from '../../test/support/limiter-model.ts';
import type { LimitDecision, Limits } from '../http/admission.ts';
import { limitHeaders } from '../http/head.ts';
import { limitRefusal } from './limit-refusal.ts';
import { createSlidingWindow, decide, peek, type SlidingWindow } from './sliding-window.ts';

const free: Limits = { perMinute: 60, burst: 20 };

function send(window: SlidingWindow, limits: Limits, nowMs: number, count = 1): LimitDecision {
  let last = decide(window, limits, nowMs, onItsWay);
  for (let sent = 1; sent < count; sent++) last = decide(window, limits, nowMs, onItsWay);
  return last;
}

test('an admitted request shows what is left, and that the quota is full again in a minute', () => {
  assert.deepEqual(limitHeaders(send(createSlidingWindow(), free, 0.25)), {
    'RateLimit-Limit': '60',
    'RateLimit-Remaining': '59',
    'RateLimit-Reset': '60',
    'RateLimit-Policy': '"minute";q=60;w=60, "burst";q=20;w=1',
  });
});

test('a 429 of the burst protection has Remaining 0 and a Retry-After', () => {
  const window = createSlidingWindow();
  send(window, free, 0, 20);
  assert.deepEqual(limitHeaders(send(window, free, 400.5)), {
    'RateLimit-Limit': '60',
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': '60',
    'RateLimit-Policy': '"minute";q=60;w=60, "burst";q=20;w=1',
    'Retry-After': '1',
  });
});

test('on a 429 Reset is never below Retry-After', () => {
  const window = createSlidingWindow();
  const limits = { perMinute: 1, burst: 1 };
  send(window, limits, 0);
  for (let nowMs = 0; nowMs < 119_000; nowMs += 250) {
    const headers = limitHeaders(send(window, limits, nowMs));
    assert.equal(headers['RateLimit-Remaining'], '0');
    assert.ok(Number(headers['RateLimit-Reset']) >= Number(headers['Retry-After']));
  }
});

test('seconds are rounded up, Retry-After to at least 1', () => {
  const seconds = (retryAfterMs: number) => {
    const refused = {
      ...peek(createSlidingWindow(), free, 0),
      admitted: false,
      resetMs: 59_001,
      nextFreeMs: retryAfterMs,
      retryAfterMs,
    };
    const headers = limitHeaders(refused);
    assert.equal(headers['RateLimit-Reset'], '60');
    return headers['Retry-After'];
  };
  assert.deepEqual([1, 999, 1000, 1001, 60_000].map(seconds), ['1', '1', '1', '2', '60']);
});

test('the last of a burst is admitted, and so has no Retry-After', () => {
  const headers = limitHeaders(send(createSlidingWindow(), free, 0, 20));
  assert.deepEqual([headers['RateLimit-Remaining'], headers['Retry-After']], ['40', undefined]);
});

test('a response that was not counted says how the caller stands, without a Retry-After', () => {
  const window = createSlidingWindow();
  assert.equal(limitHeaders(peek(window, free, 0))['RateLimit-Remaining'], '60');
  assert.equal(limitHeaders(peek(window, free, 0))['RateLimit-Reset'], '0');
  send(window, free, 0, 21);
  const headers = limitHeaders(peek(window, free, 0));
  assert.equal(headers['RateLimit-Remaining'], '0');
  assert.equal(headers['Retry-After'], undefined);
});

test('another plan has another policy', () => {
  const limits = { perMinute: 6000, burst: 2000 };
  const window = createSlidingWindow();
  send(window, free, 0);
  const headers = limitHeaders(send(window, limits, 0));
  assert.equal(headers['RateLimit-Limit'], '6000');
  assert.equal(headers['RateLimit-Policy'], '"minute";q=6000;w=60, "burst";q=2000;w=1');
});

test('the text of a 429 names the control, the wait and what an early retry brings', () => {
  const window = createSlidingWindow();
  assert.equal(
    limitRefusal(send(window, free, 0, 21)).message,
    'Burst protection: at most 20 requests in any second. Try again in 1 second; retrying sooner keeps you rejected longer.',
  );
  const limits = { perMinute: 1, burst: 1 };
  const other = createSlidingWindow();
  send(other, limits, 0);
  assert.equal(
    limitRefusal(send(other, limits, 12_345)).message,
    'Per-minute quota: at most 1 request in any 60 seconds. Try again in 48 seconds; retrying sooner keeps you rejected longer.',
  );
});
