import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadsOf, readCapacityArguments, usualTexts } from './arguments.ts';

test('without options there is a table of the usual loads', () => {
  const found = readCapacityArguments([]);
  assert.deepEqual(found, { texts: undefined, codes: undefined, carrierRate: 50 });
  const { all, shown } = loadsOf({ texts: undefined, codes: undefined, carrierRate: 50 });
  assert.deepEqual(
    all.map(({ textsPerSecond }) => textsPerSecond),
    usualTexts,
  );
  assert.deepEqual(shown, { textsPerSecond: 1000, codesPerSecond: 100, carrierRate: 50 });
});

test('a load of one’s own', () => {
  const found = readCapacityArguments(['--texts', '300', '--codes=0', '--carrier-rate', '10']);
  assert.deepEqual(found, { texts: 300, codes: 0, carrierRate: 10 });
  assert.deepEqual(loadsOf({ texts: 300, codes: 0, carrierRate: 10 }).all, [
    { textsPerSecond: 300, codesPerSecond: 0, carrierRate: 10 },
  ]);
});

test('anything else is answered with what would be right', () => {
  for (const [args, problem] of [
    [['--texts'], /--texts must be a number from 0\.1 to 1000000/],
    [['--texts', '-5'], /--texts must be/],
    [['--carrier-rate', '0'], /--carrier-rate must be/],
    [['1000'], /Unknown option 1000/],
  ] as const) {
    const found = readCapacityArguments([...args]);
    assert.match(typeof found === 'object' && 'problem' in found ? found.problem : '', problem);
  }
});
