import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSoakArguments } from './arguments.ts';

test('minutes and a rate are read, in any order', () => {
  assert.deepEqual(readSoakArguments(['90']), { minutes: 90, rate: 1 });
  assert.deepEqual(readSoakArguments(['--rate', '2.5', '0.5']), { minutes: 0.5, rate: 2.5 });
  assert.deepEqual(readSoakArguments(['3', '--rate=4']), { minutes: 3, rate: 4 });
  assert.equal(readSoakArguments(['--help']), 'help');
});

test('anything else is answered with what would be right', () => {
  for (const [args, problem] of [
    [[], /how many minutes/],
    [['ninety'], /minutes must be a number from 0\.1 to 10080/],
    [['0'], /0\.1 to 10080/],
    [['1e9'], /0\.1 to 10080/],
    [['5', '6'], /minutes once/],
    [['5', '--rate'], /--rate must be a number/],
    [['5', '--rate', '1000'], /0\.1 to 50/],
    [['5', '--fast'], /Unknown option --fast/],
  ] as const) {
    const found = readSoakArguments([...args]);
    assert.match(typeof found === 'object' && 'problem' in found ? found.problem : '', problem, args.join(' '));
  }
});
