import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSequence } from './made-samples.ts';
import { medianOf, trendOf } from './trend.ts';

const minuteMs = 60_000;
/** A reading every 5 s for an hour. */
const make = (valueAt: (minute: number, random: number) => number) => {
  const random = createSequence(7);
  return Array.from({ length: 720 }, (_, index) => {
    const atMs = index * 5000;
    return { atMs, value: valueAt(atMs / minuteMs, random()) };
  });
};

describe('a trend', () => {
  test('of noise is no rise', () => {
    const { isRising, grown, level } = trendOf(
      make((_, random) => 100 + 20 * random),
      'middle',
    );
    assert.equal(isRising, false);
    assert.ok(Math.abs(grown) < 3, `noise has grown by ${grown}`);
    assert.ok(Math.abs(level - 110) < 2, `the level is ${level}`);
  });

  test('finds a leak that is smaller than the noise of one reading', () => {
    const { isRising, perHour } = trendOf(
      make((minute, random) => 100 + 20 * random + minute / 6),
      'middle',
    );
    assert.equal(isRising, true);
    assert.ok(perHour > 7 && perHour < 13, `10 an hour were found as ${perHour}`);
  });

  test('of a heap goes by what collections leave: the saw above it counts for nothing', () => {
    const saw = (minute: number) => 40 * ((minute * 3.7) % 1);
    const held = trendOf(
      make((minute) => 60 + saw(minute)),
      'low',
    );
    assert.ok(held.level < 62, `the level is ${held.level}`);
    assert.ok(Math.abs(held.grown) < 1, `a saw has grown by ${held.grown}`);
    const leaking = trendOf(
      make((minute) => 60 + saw(minute) + minute / 4),
      'low',
    );
    assert.equal(leaking.isRising, true);
    assert.ok(leaking.perHour > 13 && leaking.perHour < 17, `15 an hour were found as ${leaking.perHour}`);
  });

  test('is not bent by a few wild readings, nor by a step that comes back', () => {
    const wild = trendOf(
      make((minute, random) => 100 + random + (minute > 50 && minute < 52 ? 500 : 0)),
      'middle',
    );
    assert.ok(Math.abs(wild.grown) < 2, `it has grown by ${wild.grown}`);
  });

  test('of what falls, of one value and of nothing is no rise', () => {
    assert.equal(
      trendOf(
        make((minute) => 100 - minute),
        'middle',
      ).isRising,
      false,
    );
    assert.equal(
      trendOf(
        make(() => 7),
        'middle',
      ).isRising,
      false,
    );
    assert.equal(trendOf([{ atMs: 0, value: 1 }], 'low').isRising, false);
    assert.equal(trendOf([], 'low').isRising, false);
  });
});

test('the median of an even number of values is between the two in the middle', () => {
  assert.equal(medianOf([4, 1, 3, 2]), 2.5);
  assert.equal(medianOf([3, 1, 2]), 2);
  assert.equal(medianOf([]), 0);
});
