import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { longAgo, onItsWay } from '../../test/support/limiter-model.ts';
import { createMemoryWindows } from './memory-windows.ts';
import { createSlidingWindow, decide, type SlidingWindow } from './sliding-window.ts';
import type { Windows } from './windows.ts';

const free = { perMinute: 60, burst: 20 };

test('50 parallel requests at the limit admit exactly what fits', async () => {
  const clock = createTestClock();
  const windows: Windows = createMemoryWindows({ clock });
  const sendTogether = async (count: number) => {
    const decisions = await Promise.all(
      Array.from({ length: count }, async () => windows.decide('reg', free, longAgo)),
    );
    return decisions.filter(({ admitted }) => admitted).length;
  };
  assert.equal(await sendTogether(50), 20, 'the second is full');
  clock.advance(1000);
  assert.equal(await sendTogether(20), 20);
  clock.advance(1000);
  assert.equal(await sendTogether(15), 15);
  clock.advance(1000);
  assert.equal(await sendTogether(50), 5, 'the minute is full');
});

test('requests in flight at a refusal leave Retry-After true', () => {
  const clock = createTestClock();
  const windows = createMemoryWindows({ clock });
  for (let sent = 0; sent < 20; sent++) windows.decide('reg', free, longAgo);
  const { retryAfterMs } = windows.decide('reg', free, longAgo);
  clock.advance(249);
  for (let late = 0; late < 50; late++) assert.equal(windows.decide('reg', free, longAgo).admitted, false);
  clock.advance(retryAfterMs - 249);
  assert.equal(windows.decide('reg', free, longAgo).admitted, true);
});

test('registrations do not affect one another, and a peek stores nothing', () => {
  const windows = createMemoryWindows({ clock: createTestClock() });
  for (let sent = 0; sent < 30; sent++) windows.decide('one', free, longAgo);
  assert.equal(windows.decide('one', free, longAgo).admitted, false);
  assert.equal(windows.peek('two', free).remaining, 60);
  assert.equal(windows.size, 1);
  assert.equal(windows.decide('two', free, longAgo).remaining, 59);
});

test('setting the machine’s clock changes nothing', () => {
  const clock = createTestClock();
  const windows = createMemoryWindows({ clock });
  for (let sent = 0; sent < 21; sent++) windows.decide('reg', free, longAgo);
  clock.set(clock.nowMs() - 3_600_000);
  assert.equal(windows.decide('reg', free, longAgo).retryAfterMs, 1000);
  clock.set(clock.nowMs() + 7_200_000);
  assert.equal(windows.decide('reg', free, longAgo).retryAfterMs, 1000);
});

test('forgetting the idle changes no decision, and none but the idle are forgotten', () => {
  const clock = createTestClock();
  const windows = createMemoryWindows({ clock });
  const kept = new Map<string, SlidingWindow>();
  let state = 7;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  let most = 0;
  const limits = { perMinute: 3, burst: 2 };
  for (let step = 0; step < 100_000; step++) {
    // A few who call all the time among many who are seen now and then.
    const key = random(3) === 0 ? `busy ${random(5)}` : `rare ${random(5000)}`;
    clock.advance(random(500));
    const window = kept.get(key) ?? createSlidingWindow();
    kept.set(key, window);
    assert.deepEqual(windows.decide(key, limits, longAgo), decide(window, limits, clock.steadyMs(), onItsWay));
    most = Math.max(most, windows.size);
  }
  assert.equal(kept.size, 5005);
  assert.ok(most < 1500, `${most} windows were kept for about 250 that were in use`);
});

test('a window found idle by its own request is not forgotten with it', () => {
  const clock = createTestClock();
  const windows = createMemoryWindows({ clock });
  const limits = { perMinute: 1, burst: 1 };
  for (let round = 0; round < 5; round++) {
    assert.equal(windows.decide('alone', limits, longAgo).admitted, true);
    assert.equal(windows.decide('alone', limits, longAgo).admitted, false);
    clock.advance(60_000);
  }
});

test('registrations that come once are forgotten as others come', () => {
  const clock = createTestClock();
  const windows = createMemoryWindows({ clock });
  for (let index = 0; index < 10_000; index++) windows.decide(`first ${index}`, free, longAgo);
  assert.equal(windows.size, 10_000, 'none that counts is forgotten');
  clock.advance(60_000);
  for (let turn = 0; turn < 80_010; turn++) windows.decide('other', free, longAgo);
  assert.equal(windows.size, 1);
});
