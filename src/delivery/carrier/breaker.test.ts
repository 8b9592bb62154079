import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../../test/support/clock.ts';
import { createBreaker } from './breaker.ts';

function opened() {
  const clock = createTestClock();
  const breaker = createBreaker(clock);
  for (let n = 0; n < 20; n++) breaker.note('GB', 'fails');
  return { clock, breaker };
}

describe('a breaker', () => {
  test('opens for the country of 20 results in 60 s, when half of them failed', () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    for (let n = 0; n < 10; n++) breaker.note('GB', 'works');
    for (let n = 0; n < 9; n++) breaker.note('GB', 'fails');
    assert.deepEqual([breaker.open(), breaker.isAnyOpen], [[], false]);
    breaker.note('GB', 'fails');
    assert.deepEqual(breaker.open(), ['GB']);
    assert.deepEqual([breaker.isOpen('GB'), breaker.isOpen('FR')], [true, false]);
    assert.deepEqual([breaker.admits('GB'), breaker.admits('FR')], [false, true]);
  });

  test('forgets what is older than a minute', () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    for (let n = 0; n < 19; n++) breaker.note('GB', 'fails');
    clock.advance(65_000);
    breaker.note('GB', 'fails');
    assert.deepEqual(breaker.open(), []);
  });

  test('lets one text through every 5 s, and closes when it gets through', () => {
    const { clock, breaker } = opened();
    for (let round = 0; round < 3; round++) {
      clock.advance(4999);
      assert.equal(breaker.admits('GB'), false);
      clock.advance(1);
      assert.deepEqual(breaker.open(), [], 'other nodes may route a text to it');
      assert.deepEqual([breaker.admits('GB'), breaker.admits('GB')], [true, false]);
      assert.deepEqual(breaker.open(), ['GB']);
      if (round < 2) breaker.note('GB', 'fails');
    }
    breaker.note('GB', 'works');
    assert.deepEqual([breaker.admits('GB'), breaker.isAnyOpen], [true, false]);
  });

  test('rests for 5 s at a time: a text that it refuses waits for that long', () => {
    const { clock, breaker } = opened();
    assert.deepEqual([breaker.restMs('GB'), breaker.restMs('FR')], [5000, 0]);
    clock.advance(2000);
    assert.equal(breaker.restMs('GB'), 3000);
    breaker.openAll();
    assert.deepEqual([breaker.restMs('GB'), breaker.restMs('FR')], [5000, 5000]);
    clock.advance(5000);
    assert.deepEqual([breaker.restMs('GB'), breaker.admits('GB')], [0, true]);
  });

  test('a probe without a result is followed by another one', () => {
    const { clock, breaker } = opened();
    clock.advance(5000);
    assert.equal(breaker.admits('GB'), true);
    clock.advance(5000);
    assert.equal(breaker.admits('GB'), true);
  });

  test('answers to what was under way when it opened change nothing', () => {
    const { breaker } = opened();
    breaker.note('GB', 'works');
    assert.deepEqual(breaker.open(), ['GB']);
  });

  test('the refusals of one application do not open it for all', () => {
    const breaker = createBreaker(createTestClock());
    for (let n = 0; n < 1000; n++) breaker.note('GB', 'fails', 'app_1');
    assert.deepEqual(breaker.open(), []);
    for (const application of ['app_2', 'app_3', 'app_4']) {
      for (let n = 0; n < 5; n++) breaker.note('GB', 'fails', application);
    }
    assert.deepEqual(breaker.open(), ['GB']);
  });

  test('an account that does not work opens it for all countries', () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    breaker.openAll();
    assert.deepEqual([breaker.open(), breaker.isOpen('FR'), breaker.admits('GB')], [['*'], true, false]);
    clock.advance(5000);
    assert.deepEqual([breaker.admits('GB'), breaker.admits('FR')], [true, false]);
    breaker.note('GB', 'works');
    assert.deepEqual([breaker.open(), breaker.admits('FR')], [[], true]);
  });

  test('opens exactly when a count of the last minute says so', () => {
    const result = fc.record({ ms: fc.nat(9000), fails: fc.boolean() });
    fc.assert(
      fc.property(fc.array(result, { maxLength: 120, size: 'max' }), (results) => {
        const clock = createTestClock(0);
        const breaker = createBreaker(clock);
        const seen: { bucket: number; fails: boolean }[] = [];
        for (const { ms, fails } of results) {
          clock.advance(ms);
          const bucket = Math.floor(clock.steadyMs() / 5000);
          seen.push({ bucket, fails });
          const recent = seen.filter((each) => each.bucket > bucket - 12);
          const failed = recent.filter((each) => each.fails).length;
          breaker.note('GB', fails ? 'fails' : 'works');
          const opens = fails && recent.length >= 20 && failed * 2 >= recent.length;
          assert.equal(breaker.isAnyOpen, opens, `${failed} of ${recent.length}`);
          if (opens) return;
        }
      }),
    );
  });
});
