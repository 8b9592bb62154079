import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSmppTime, writeReceiptDate, writeSmppTime } from './submit-times.ts';

const nowMs = Date.UTC(2026, 0, 31, 12, 0, 0);

test('a relative time counts from now', () => {
  assert.equal(readSmppTime('000000001000000R', nowMs), nowMs + 10 * 60_000);
  assert.equal(readSmppTime('000002030405000R', nowMs), nowMs + (((2 * 24 + 3) * 60 + 4) * 60 + 5) * 1000);
});

test('an absolute time has an offset in quarters of an hour', () => {
  assert.equal(readSmppTime('260131130000000+', nowMs), nowMs + 3_600_000);
  assert.equal(readSmppTime('260131130000004+', nowMs), nowMs);
  assert.equal(readSmppTime('260131110000004-', nowMs), nowMs);
  assert.equal(readSmppTime('260131120000500+', nowMs), nowMs + 500);
});

test('an empty time is none, and what is no time is refused', () => {
  assert.equal(readSmppTime('', nowMs), null);
  for (const wrong of [
    '260231130000000+',
    '261301130000000+',
    '260131250000000+',
    '260131130000099+',
    'tomorrow',
    '2601311300000',
  ])
    assert.equal(readSmppTime(wrong, nowMs), undefined, wrong);
});

test('times are written in UTC', () => {
  assert.equal(writeSmppTime(nowMs), '260131120000000+');
  assert.equal(readSmppTime(writeSmppTime(nowMs), 0), nowMs);
  assert.equal(writeReceiptDate(nowMs), '2601311200');
});
