import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerTimes } from './answer-times.ts';

test('times are right to a tenth, also after they were added together', () => {
  const [one, other] = [createAnswerTimes(), createAnswerTimes()];
  for (let ms = 1; ms <= 1000; ms++) (ms % 2 === 0 ? one : other).add(ms);
  one.addAll(other);
  assert.equal(one.count, 1000);
  for (const part of [0.1, 0.5, 0.9, 0.99]) {
    const found = one.at(part) / (1000 * part);
    assert.ok(found >= 0.999 && found < 1.1, `${part} is ${one.at(part)} ms`);
  }
  assert.equal(one.at(1), 1000);
  assert.equal(one.slowestMs, 1000);
});

test('a percentile covers zero times and times beyond all buckets', () => {
  const times = createAnswerTimes();
  assert.equal(times.at(0.99), 0);
  times.add(0);
  times.add(3_600_000);
  assert.equal(times.count, 2);
  assert.ok(times.at(0.5) <= 0.25, `the median is ${times.at(0.5)} ms`);
  assert.ok(times.at(1) > 200_000, `the slowest is ${times.at(1)} ms`);
});
