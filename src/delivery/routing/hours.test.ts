import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { dayMs, minuteMs } from '../../platform/clock.ts';
import { openingAfter, type RouteHours, weekDays } from './hours.ts';

const utc = (text: string) => Date.parse(text);
const hours = (given: Partial<RouteHours> = {}): RouteHours => ({
  from: '08:00',
  to: '20:00',
  days: [],
  zone: 'UTC',
  ...given,
});
const opening = (given: Partial<RouteHours>, now: string) => {
  const found = openingAfter(hours(given), utc(now));
  return found === null ? null : new Date(found).toISOString();
};

describe('hours', () => {
  test('open from the first minute, closed from the last', () => {
    assert.equal(opening({}, '2026-01-05T08:00:00Z'), null);
    assert.equal(opening({}, '2026-01-05T19:59:59.999Z'), null);
    assert.equal(opening({}, '2026-01-05T20:00:00Z'), '2026-01-06T08:00:00.000Z');
    assert.equal(opening({}, '2026-01-05T07:59:59.999Z'), '2026-01-05T08:00:00.000Z');
  });

  test('by the clocks of the zone, in winter and in summer', () => {
    assert.equal(opening({ zone: 'Europe/Berlin' }, '2026-01-05T07:30:00Z'), null);
    assert.equal(opening({ zone: 'Europe/Berlin' }, '2026-01-05T06:30:00Z'), '2026-01-05T07:00:00.000Z');
    assert.equal(opening({ zone: 'Europe/Berlin' }, '2026-07-05T05:30:00Z'), '2026-07-05T06:00:00.000Z');
    assert.equal(opening({ zone: 'America/New_York' }, '2026-01-05T02:00:00Z'), '2026-01-05T13:00:00.000Z');
    assert.equal(opening({ zone: 'Asia/Kolkata' }, '2026-01-05T01:00:00Z'), '2026-01-05T02:30:00.000Z');
  });

  test('hours on days when the clocks change', () => {
    assert.equal(opening({ zone: 'Europe/Berlin' }, '2026-03-28T22:00:00Z'), '2026-03-29T06:00:00.000Z');
    assert.equal(opening({ zone: 'Europe/Berlin' }, '2026-10-24T22:00:00Z'), '2026-10-25T07:00:00.000Z');
    // 02:30 does not exist on that day.
    assert.equal(opening({ from: '02:30', zone: 'Europe/Berlin' }, '2026-03-29T00:00:00Z'), '2026-03-29T01:30:00.000Z');
    // 02:30 comes twice on that day.
    assert.equal(opening({ from: '02:30', zone: 'Europe/Berlin' }, '2026-10-24T23:00:00Z'), '2026-10-25T00:30:00.000Z');
  });

  test('open on some days only', () => {
    const days = ['mon', 'tue', 'wed', 'thu', 'fri'];
    assert.equal(opening({ days }, '2026-01-09T21:00:00Z'), '2026-01-12T08:00:00.000Z');
    assert.equal(opening({ days: ['mon'] }, '2026-01-05T21:00:00Z'), '2026-01-12T08:00:00.000Z');
  });

  test('a night belongs to the day it begins on', () => {
    const night = { from: '22:00', to: '06:00', days: ['fri'] };
    assert.equal(opening(night, '2026-01-10T05:59:00Z'), null);
    assert.equal(opening(night, '2026-01-10T06:00:00Z'), '2026-01-16T22:00:00.000Z');
    assert.equal(opening(night, '2026-01-09T05:59:00Z'), '2026-01-09T22:00:00.000Z');
  });

  test('open for the whole day', () => {
    assert.equal(opening({ from: '00:00', to: '24:00' }, '2026-01-05T23:59:59.999Z'), null);
    assert.equal(opening({ from: '00:00', to: '00:00' }, '2026-01-05T12:00:00Z'), null);
  });

  test('the returned instant is open, and no earlier one is', () => {
    const time = fc.nat({ max: 1439 }).map((at) => `${pad(Math.floor(at / 60))}:${pad(at % 60)}`);
    const some = fc.record({
      from: time,
      to: time,
      days: fc.subarray(weekDays),
      zone: fc.constantFrom('UTC', 'Europe/London', 'America/Los_Angeles', 'Asia/Kathmandu', 'Pacific/Chatham'),
    });
    const now = fc.integer({ min: utc('2026-01-01T00:00:00Z'), max: utc('2026-12-31T00:00:00Z') });
    fc.assert(
      fc.property(some, now, fc.double({ min: 0, max: 1, noNaN: true }), (given, nowMs, part) => {
        const opensMs = openingAfter(given, nowMs);
        if (opensMs === null) return;
        assert.ok(opensMs > nowMs && opensMs <= nowMs + 8 * dayMs + 60 * minuteMs, 'within a week');
        assert.equal(openingAfter(given, opensMs), null, 'it is open then');
        const between = nowMs + Math.floor((opensMs - 1 - nowMs) * part);
        assert.equal(openingAfter(given, between), opensMs, 'nothing earlier is');
      }),
      { numRuns: 60 },
    );
  });
});

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
