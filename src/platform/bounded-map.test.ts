import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { createBoundedMap } from './bounded-map.ts';

describe('a bounded map', () => {
  test('keeps the newest entries, and those that are used', () => {
    const map = createBoundedMap<number, string>(100);
    for (let key = 0; key < 1000; key++) {
      map.set(key, 'value');
      assert.equal(map.get(0), 'value', `the first, which is used, after ${key} others`);
      assert.ok(map.size <= 100, `${map.size} entries`);
    }
    assert.equal(map.get(999), 'value');
    assert.equal(map.get(500), undefined);
  });

  test('forgets what is not used for long, however few entries there are', () => {
    const clock = createTestClock();
    const map = createBoundedMap<string, number>(1_000_000, { clock, unusedMs: 60_000 });
    map.set('used', 1);
    map.set('unused', 1);
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(60_000);
      map.set(`of minute ${minute}`, 1);
      assert.equal(map.get('used'), 1);
    }
    assert.equal(map.get('unused'), undefined);
    assert.equal(map.get('of minute 0'), undefined);
    assert.equal(map.get('of minute 4'), 1);
    assert.ok(map.size <= 3, `${map.size} entries`);
  });

  test('forgets nothing by time unless it is asked to', () => {
    const map = createBoundedMap<string, number>(10);
    map.set('one', 1);
    map.delete('one');
    assert.equal(map.get('one'), undefined);
    map.set('two', 2);
    map.clear();
    assert.equal(map.size, 0);
  });
});
