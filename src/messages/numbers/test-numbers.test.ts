import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNumbers as shown } from '../../../portal/src/try/test-numbers.ts';
import { testCodeDigits, testNumberOf } from './test-numbers.ts';

test('+15005550100 to 09 are delivered, with a code of the first digits of 1234567890', () => {
  for (let last = 0; last <= 9; last++) {
    assert.deepEqual(testNumberOf(`+1500555010${last}`), { kind: 'delivered' });
  }
});

test('+15005550110 to 14 each do what the contract says', () => {
  assert.deepEqual(testNumberOf('+15005550110'), { kind: 'delivered_late', afterMs: 10_000 });
  assert.deepEqual(testNumberOf('+15005550111'), { kind: 'undelivered' });
  assert.deepEqual(testNumberOf('+15005550112'), { kind: 'blocked' });
  assert.deepEqual(testNumberOf('+15005550113'), { kind: 'expires_early', afterMs: 2_000 });
  assert.deepEqual(testNumberOf('+15005550114'), { kind: 'failed_permanent' });
});

test('the numbers beside them are no test numbers', () => {
  const others = [
    '+15005550099',
    '+15005550118',
    '+15005550119',
    '+150055501',
    '+150055501000',
    '15005550100',
    '',
    '+447700900123',
  ];
  for (const to of others) assert.equal(testNumberOf(to), undefined, to);
});

test('the portal shows test numbers only, one of each kind at least, and their right times and code', () => {
  const says = shown.map(({ number, does }) => ({ test: testNumberOf(number), does }));
  assert.deepEqual(
    says.map(({ test }) => test?.kind),
    [
      ...['delivered', 'delivered', 'delivered_late', 'undelivered', 'blocked', 'expires_early', 'failed_permanent'],
      ...['no_answer', 'busy', 'no_whatsapp'],
    ],
  );
  for (const { test, does } of says) {
    if (test?.kind === 'delivered') assert.ok(does.includes(testCodeDigits.slice(0, 6)), does);
    if (test !== undefined && 'afterMs' in test) assert.ok(does.includes(`${test.afterMs / 1000} seconds`), does);
  }
});
