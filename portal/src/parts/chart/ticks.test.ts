import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticksTo } from './ticks.ts';

test('the ticks of a chart are round, begin at 0 and end above the highest bar', () => {
  assert.deepEqual(ticksTo(0), [0, 1]);
  assert.deepEqual(ticksTo(1), [0, 1]);
  assert.deepEqual(ticksTo(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticksTo(73), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticksTo(864_000), [0, 500_000, 1_000_000]);
  for (let most = 1; most < 1e7; most = Math.ceil(most * 1.7)) {
    const ticks = ticksTo(most);
    assert.ok((ticks.at(-1) ?? 0) >= most, `${most}`);
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${most}`);
    assert.ok(
      ticks.every((tick) => Number.isInteger(tick)),
      `${most}`,
    );
  }
});
