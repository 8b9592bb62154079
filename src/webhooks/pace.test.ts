import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayMs } from '../platform/clock.ts';
import {
  afterFailure,
  afterSuccess,
  atOnceAfter,
  atOnceFirst,
  type Health,
  isHopeless,
  laneOf,
  latencyAfter,
  mostAtOnce,
  quickWithinMs,
} from './pace.ts';

const fresh: Health = {
  failures: 0,
  failingSinceMs: null,
  lastSuccessAtMs: null,
  restsUntilMs: null,
  latencyMs: null,
};

test('an endpoint has 1 to 20 attempts at once, fewer after failures and more after successes', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (outcomes) => {
      let atOnce = atOnceFirst(fresh);
      for (const succeeded of outcomes) {
        const before = atOnce;
        atOnce = atOnceAfter(atOnce, succeeded);
        assert.ok(atOnce >= 1 && atOnce <= mostAtOnce, `${atOnce} at once`);
        assert.ok(succeeded ? atOnce >= before : atOnce <= before, `${before} became ${atOnce}`);
      }
    }),
  );
  assert.equal(atOnceFirst(afterFailure(fresh, 1)), 1);
});

test('health counts failures since the last success', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (outcomes) => {
      let health = fresh;
      outcomes.forEach((succeeded, time) => {
        health = succeeded ? afterSuccess(health, time) : afterFailure(health, time);
      });
      const last = outcomes.lastIndexOf(true);
      const failures = outcomes.length - 1 - last;
      assert.equal(health.failures, failures);
      assert.equal(health.failingSinceMs, failures === 0 ? null : last + 1);
      assert.equal(health.lastSuccessAtMs, last === -1 ? null : last);
      const restMs = (health.restsUntilMs ?? 0) - (health.restsUntilMs === null ? 0 : outcomes.length - 1);
      assert.ok(failures < 10 ? restMs === 0 : restMs >= 1000 && restMs <= 30_000, `rests ${restMs} ms`);
    }),
  );
});

test('five days of failures disable an endpoint, unless one attempt succeeds', () => {
  const failing = afterFailure(fresh, 1000);
  assert.equal(isHopeless(failing, 1000 + 5 * dayMs - 1), false);
  assert.equal(isHopeless(failing, 1000 + 5 * dayMs), true);
  assert.equal(isHopeless(afterSuccess(failing, 2000), 1000 + 50 * dayMs), false);
});

test('a slow answer makes an endpoint slow at once, and quick ones make it quick again after a while', () => {
  assert.equal(laneOf(fresh), 'new');
  assert.equal(atOnceFirst(fresh), 1, 'one call until it was measured');
  const took = fc.integer({ min: 0, max: 15_000 });
  fc.assert(
    fc.property(fc.array(took, { minLength: 1, maxLength: 50 }), (times) => {
      let latencyMs: number | null = null;
      for (const tookMs of times) {
        const before: number = latencyMs ?? tookMs;
        latencyMs = latencyAfter(latencyMs, tookMs);
        assert.ok(latencyMs >= Math.min(before, tookMs) && latencyMs <= Math.max(before, tookMs), `${latencyMs} ms`);
        const lane = laneOf({ ...fresh, latencyMs });
        if (tookMs > quickWithinMs) assert.equal(lane, 'slow');
      }
      let quickAnswers = 0;
      for (; laneOf({ ...fresh, latencyMs }) === 'slow'; quickAnswers++) latencyMs = latencyAfter(latencyMs, 50);
      assert.ok(quickAnswers <= 10, `${quickAnswers} quick answers`);
    }),
  );
  assert.equal(laneOf({ failures: 1, latencyMs: 5 }), 'slow', 'an endpoint that fails is not quick');
});
