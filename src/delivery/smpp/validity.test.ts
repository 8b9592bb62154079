import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { utcOffsetProblem, validityPeriod } from './validity.ts';

const nowMs = Date.parse('2031-12-31T23:59:30Z');
const settings = { validity: 'relative', utc_offset: '+00:00', validity_min_seconds: 0 } as const;
const secondMs = 1000;

test('relative: from seconds to days', () => {
  const of = (seconds: number) => validityPeriod(nowMs + seconds * secondMs, nowMs, settings);
  assert.equal(of(600), '000000001000000R');
  assert.equal(of(59), '000000000059000R');
  assert.equal(of(72 * 3600), '000003000000000R');
  assert.equal(of(90_061), '000001010101000R');
  assert.equal(of(-5), '000000000001000R', 'a text that is over has the shortest');
  assert.equal(of(0.4), '000000000001000R', 'part of a second counts as one');
});

test('absolute: the local time of the offset, and the offset in quarters of an hour', () => {
  const of = (utc_offset: string) =>
    validityPeriod(nowMs + 30 * secondMs, nowMs, { ...settings, validity: 'absolute', utc_offset });
  assert.equal(of('+00:00'), '320101000000000+');
  assert.equal(of('+05:30'), '320101053000022+');
  assert.equal(of('-08:00'), '311231160000032-');
  assert.equal(of('soon'), '320101000000000+');
});

test('the carrier decides, or wants a least time', () => {
  assert.equal(validityPeriod(nowMs + 600 * secondMs, nowMs, { ...settings, validity: 'none' }), '');
  const least = { ...settings, validity_min_seconds: 300 };
  assert.equal(validityPeriod(nowMs + 10 * secondMs, nowMs, least), '000000000500000R');
});

test('always 16 characters, whatever the time', () => {
  const validity = fc.constantFrom('relative' as const, 'absolute' as const);
  const times = fc.oneof(fc.integer(), fc.double({ min: 0, max: 8e15, noNaN: true }));
  fc.assert(
    fc.property(times, validity, fc.integer({ min: 0, max: 259_200 }), (expiresAtMs, form, validity_min_seconds) => {
      const written = validityPeriod(expiresAtMs, nowMs, { ...settings, validity: form, validity_min_seconds });
      assert.match(written, /^\d{15}[R+-]$/);
    }),
  );
});

test('offsets that can be used', () => {
  for (const right of ['+00:00', '+05:45', '-12:00', '+12:00']) assert.equal(utcOffsetProblem(right), undefined, right);
  for (const wrong of ['', '0', '+5:30', '+05:10', '+13:00', '+12:15', 'UTC']) {
    assert.match(utcOffsetProblem(wrong) ?? '', /between -12:00 and \+12:00/, wrong);
  }
});
