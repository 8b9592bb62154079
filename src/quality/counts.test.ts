import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerBounds, bucketOf, quantileOf } from './answer-times.ts';
import { arrivalBounds, arrivalBucketOf, arrivalColumns, arrivalQuantileOf } from './arrival-times.ts';
import { wilson } from './conversion/wilson.ts';
import { toCsv } from './csv.ts';

test('Wilson: the bounds lie between 0 and 1, contain the rate, and come closer with more cases', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 10_000 }), (some, cases) => {
      const hits = Math.min(some, cases);
      const { value, low, high } = wilson(hits, cases) ?? assert.fail('there are cases');
      assert.ok(low >= 0 && low <= value + 1e-12 && value <= high + 1e-12 && high <= 1, `${low} ${value} ${high}`);
      const wider = wilson(hits, cases);
      const closer = wilson(hits * 10, cases * 10);
      assert.ok((closer?.high ?? 1) - (closer?.low ?? 0) < (wider?.high ?? 1) - (wider?.low ?? 0), 'more cases');
    }),
  );
  assert.equal(wilson(0, 0), undefined);
  // By the usual tables: 8 of 10.
  const { low = 0, high = 0 } = wilson(8, 10) ?? {};
  assert.deepEqual([low.toFixed(4), high.toFixed(4)], ['0.4902', '0.9433']);
});

test('the quantile of answer times is the bound that the sorted times give', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60_000), { minLength: 1, maxLength: 200 }), (times) => {
      const counts = Array.from({ length: answerBounds.length + 1 }, () => 0);
      for (const time of times) counts[bucketOf(time)] = (counts[bucketOf(time)] ?? 0) + 1;
      const sorted = times.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(times.length * 0.95) - 1] ?? 0;
      assert.equal(quantileOf(counts, 0.95), answerBounds[bucketOf(exact)] ?? Number.POSITIVE_INFINITY);
    }),
  );
  assert.equal(quantileOf([0, 0], 0.95), undefined);
});

test('the quantile of arrivals is the bound that the sorted times give', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4_000_000), { minLength: 1, maxLength: 200 }), (times) => {
      const counts = Array.from({ length: arrivalColumns }, () => 0);
      for (const time of times) counts[arrivalBucketOf(time)] = (counts[arrivalBucketOf(time)] ?? 0) + 1;
      const exact = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.5) - 1] ?? 0;
      assert.equal(arrivalQuantileOf(counts, 0.5), arrivalBounds[arrivalBucketOf(exact)] ?? Number.POSITIVE_INFINITY);
    }),
  );
});

test('CSV has quotes where needed, and no cell that a spreadsheet would run', () => {
  const cells = ['plain', 'a,b', 'say "hi"', '=1+1', '+A', '-2', '+447700900123', '@x', ' x', null, 1.5];
  assert.equal(
    toCsv(['title'], [cells]),
    `title\r\nplain,"a,b","say ""hi""",'=1+1,'+A,-2,+447700900123,'@x," x",,1.5\r\n`,
  );
});
