import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomesOf, secondsOf, shareOf } from './figures.ts';

const none = { sent: 0, reported: 0, delivered: 0, undelivered: 0, refused: 0, failed: 0, expired: 0 };

test('every text counts once: delivered, unreported, undelivered or failed', () => {
  const counts = { sent: 10, reported: 8, delivered: 5, undelivered: 2, refused: 3, failed: 4, expired: 1 };
  // Of the four failed ones, three were refused and one failed by a report.
  assert.deepEqual(outcomesOf(counts, false), { texts: 14, delivered: 5, unreported: 2, undelivered: 2, failed: 5 });
});

test('a code that moved on counts where it ended; of the carrier that refused it, as failed', () => {
  const refusing = { ...none, refused: 3 };
  assert.deepEqual(outcomesOf(refusing, false), { texts: 0, delivered: 0, unreported: 0, undelivered: 0, failed: 0 });
  assert.deepEqual(outcomesOf(refusing, true), { texts: 3, delivered: 0, unreported: 0, undelivered: 0, failed: 3 });
  const taking = { ...none, sent: 3, reported: 3, delivered: 3 };
  assert.deepEqual(outcomesOf(taking, true), { texts: 3, delivered: 3, unreported: 0, undelivered: 0, failed: 0 });
});

test('days without a count of reports: what has an end was reported', () => {
  const old = { ...none, sent: 10, delivered: 7, undelivered: 1 };
  assert.deepEqual(outcomesOf(old, false), { texts: 10, delivered: 7, unreported: 2, undelivered: 1, failed: 0 });
});

test('seconds are upper bounds, and above the last one by a second', () => {
  assert.equal(secondsOf([], 0.5), null);
  assert.equal(secondsOf([5, 4, 1], 0.5), 1);
  assert.equal(secondsOf([5, 4, 1], 0.95), 3);
  assert.equal(secondsOf([...Array.from({ length: 12 }, () => 0), 1], 0.5), 1801);
});

test('a share of nothing is unknown', () => {
  assert.equal(shareOf(0, 0), null);
  assert.equal(shareOf(1, 3), 0.3333);
});
