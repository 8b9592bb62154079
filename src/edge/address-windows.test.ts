import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestClock } from '../../test/support/clock.ts';
import { inShort } from '../../test/support/effort.ts';
import { longAgo, onItsWay } from '../../test/support/limiter-model.ts';
import type { Limits } from '../http/admission.ts';
import { addressKey } from './address-key.ts';
import { createAddressWindows } from './address-windows.ts';
import { createSlidingWindow, decide, type SlidingWindow } from './sliding-window.ts';

const limits: Limits = { perMinute: 60, burst: 20 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function address(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

test('while they fit, addresses are counted exactly', () => {
  const clock = createTestClock();
  const windows = createAddressWindows({ clock, maxAddresses: 300 });
  const kept = new Map<string, SlidingWindow>();
  for (let step = 0; step < inShort(3000, 50_000); step++) {
    const key = address((step * step) % 293);
    clock.advance(step % 7);
    const window = kept.get(key) ?? createSlidingWindow();
    kept.set(key, window);
    assert.deepEqual(windows.decide(key, limits, longAgo), decide(window, limits, clock.steadyMs(), onItsWay));
  }
});

for (const maxAddresses of [1, 3, 10]) {
  test(`of ${maxAddresses} places those seen once go first, the least recently seen of each kind before the others`, () => {
    const windows = createAddressWindows({ clock: createTestClock(), maxAddresses });
    const endless: Limits = { perMinute: 1_000_000, burst: 1_000_000 };
    const isKept = (key: string) => windows.peek(key, endless).remaining < 1_000_000;
    const addresses = Array.from({ length: maxAddresses * 5 }, (_, index) => address(index));
    let onceSeen: string[] = [];
    let returning: string[] = [];
    let state = 3;
    for (let step = 0; step < inShort(1100, 10_000); step++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      // Now many addresses, now few, so that either list is long for a while.
      const key = address((state >>> 8) % (step % 1000 < 500 ? maxAddresses + 2 : maxAddresses * 5));
      const known = onceSeen.includes(key) || returning.includes(key);
      if (!known && onceSeen.length + returning.length === maxAddresses) {
        (onceSeen.length > 0 ? onceSeen : returning).shift();
      }
      onceSeen = onceSeen.filter((other) => other !== key);
      returning = returning.filter((other) => other !== key);
      (known ? returning : onceSeen).push(key);
      if (returning.length > Math.ceil(maxAddresses * 0.8)) onceSeen.push(returning.shift() ?? '');

      windows.decide(key, endless, longAgo);
      for (let index = 0; index < maxAddresses * 5; index++) {
        const other = addresses[index] ?? '';
        const expected = onceSeen.includes(other) || returning.includes(other);
        if (isKept(other) !== expected) assert.fail(`step ${step}: ${other} is ${expected ? 'missing' : 'kept'}`);
      }
      assert.equal(windows.size, onceSeen.length + returning.length);
    }
  });
}

test('very many addresses leave memory bounded, and a limited one limited', () => {
  const clock = createTestClock();
  const windows = createAddressWindows({ clock });
  const large: Limits = { perMinute: 6000, burst: 1000 };
  const fill = (key: string) => {
    for (let second = 0; second < 6; second++) {
      for (let sent = 0; sent < 1000; sent++) windows.decide(key, large, longAgo);
      clock.advance(1000);
    }
  };
  fill('busy');
  fill('silent');
  assert.equal(windows.decide('busy', large, longAgo).admitted, false);
  assert.equal(windows.decide('silent', large, longAgo).admitted, false);

  const before = heapMegabytes();
  for (let index = 0; index < inShort(110_000, 1_000_000); index++) {
    const decision = windows.decide(address(index), large, longAgo);
    assert.equal(decision.remaining, 5999, 'no address in the flood is refused because of another');
    if (index % 1000 === 0) {
      clock.advance(1);
      assert.equal(windows.decide('busy', large, longAgo).admitted, false);
      assert.ok(windows.size <= 100_000);
      assert.ok(windows.slots <= 4_000_000);
    }
  }
  assert.equal(windows.size, 100_000);
  assert.equal(
    windows.decide('silent', large, longAgo).admitted,
    false,
    'its history was not pushed out by passers-by',
  );
  const grown = heapMegabytes() - before;
  assert.ok(grown < 100, `${grown} MB for 100,000 addresses`);

  clock.advance(200_000);
  for (let index = 0; index < 100_000; index++) windows.decide('other', large, longAgo);
  assert.equal(windows.size, 1, 'and it is given back when the flood is over');
  assert.ok(windows.slots <= 6000);
});

test('a flood that calls twice does not evict an address that calls all the time', () => {
  const clock = createTestClock();
  const windows = createAddressWindows({ clock, maxAddresses: 1000 });
  let admitted = 0;
  for (let index = 0; index < inShort(20_000, 100_000); index++) {
    windows.decide(address(index), limits, longAgo);
    windows.decide(address(index), limits, longAgo);
    if (index % 100 === 0 && windows.decide('busy', limits, longAgo).admitted) admitted++;
  }
  assert.equal(admitted, 20);
  assert.ok(windows.size <= 1000);
});

test('the slots of busy addresses are bounded too, and the count of them is true', () => {
  const clock = createTestClock();
  const large: Limits = { perMinute: 500, burst: 500 };
  const windows = createAddressWindows({ clock, maxAddresses: 1000, maxEntries: 5000 });
  for (let index = 0; index < 50; index++) {
    for (let sent = 0; sent < 500; sent++) {
      assert.equal(windows.decide(address(index), large, longAgo).remaining, 499 - sent);
      assert.ok(windows.slots <= 5000);
    }
    assert.equal(windows.decide(address(index), large, longAgo).admitted, false);
  }
  assert.equal(windows.slots, 5000);
  assert.equal(windows.size, 10);
  clock.advance(120_000);
  for (let turn = 0; turn < 20; turn++) windows.decide('other', large, longAgo);
  assert.deepEqual([windows.size, windows.slots], [1, 32]);
});

test('one window may be as large as its limit, whatever the bound', () => {
  const windows = createAddressWindows({ clock: createTestClock(), maxAddresses: 1, maxEntries: 1 });
  const large: Limits = { perMinute: 100, burst: 100 };
  for (let sent = 0; sent < 100; sent++) assert.equal(windows.decide('a', large, longAgo).remaining, 99 - sent);
  assert.equal(windows.decide('a', large, longAgo).admitted, false);
  assert.deepEqual([windows.size, windows.slots], [1, 100]);
  assert.equal(windows.decide('b', large, longAgo).remaining, 99);
  assert.deepEqual([windows.size, windows.slots], [1, 4]);
});

test('an address that reuses an entry gets none of its history', () => {
  const windows = createAddressWindows({ clock: createTestClock(), maxAddresses: 2 });
  const two: Limits = { perMinute: 2, burst: 2 };
  for (let index = 0; index < 100; index++) {
    const remaining = [1, 2, 3, 4].map(() => windows.decide(address(index), two, longAgo).remaining);
    assert.deepEqual(remaining, [1, 0, 0, 0]);
    assert.equal(windows.peek(address(index), two).admitted, false);
  }
});

test('a peek stores no address', () => {
  const windows = createAddressWindows({ clock: createTestClock(), maxAddresses: 3 });
  for (let index = 0; index < 1000; index++) assert.equal(windows.peek(address(index), limits).remaining, 60);
  assert.deepEqual([windows.size, windows.slots], [0, 0]);
});

test('an address that is a slice of a long header does not keep the header in memory', () => {
  const windows = createAddressWindows({ clock: createTestClock() });
  const before = heapMegabytes();
  for (let index = 0; index < 5000; index++) {
    const header = `${'x'.repeat(16_000)}${index}, 203.100.${100 + (index >> 8)}.${index & 255}`;
    windows.decide(addressKey(header.slice(header.indexOf(', ') + 2)), limits, longAgo);
  }
  const grown = heapMegabytes() - before;
  assert.equal(windows.size, 5000);
  assert.ok(grown < 20, `${grown} MB`);
});
