import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock, type TestClock } from '../../test/support/clock.ts';
import { createAddressWindows } from './address-windows.ts';
import { createMemoryWindows } from './memory-windows.ts';
import { createShareWindows } from './share-windows.ts';
import type { LocalWindows } from './windows.ts';

const limits = { perMinute: 3, burst: 3 };

const keepers: [string, (clock: TestClock) => Pick<LocalWindows, 'decide'>][] = [
  ['registrations', (clock) => createMemoryWindows({ clock })],
  ['addresses', (clock) => createAddressWindows({ clock })],
  ['shares', (clock) => createShareWindows({ clock, liveNodes: () => 1 })],
];

for (const [what, create] of keepers) {
  test(`${what}: only a caller informed after the lockout was opened is punished`, () => {
    const clock = createTestClock();
    const windows = create(clock);
    const waits = (informedAtMs: number) => windows.decide('caller', limits, informedAtMs).retryAfterMs;
    const beforeMs = clock.steadyMs();
    clock.advance(5);
    for (let sent = 0; sent < 3; sent++) waits(beforeMs);
    const openedMs = clock.steadyMs();
    assert.equal(waits(beforeMs), 60_000);
    clock.advance(10);
    assert.equal(waits(beforeMs), 59_990, 'its last answer came before');
    assert.equal(waits(openedMs), 59_990, 'as the lockout was opened, which is not after');
    assert.equal(waits(openedMs + 1 / 1024), 60_990);
    assert.equal(waits(clock.steadyMs()), 60_990, 'once in 250 ms');
    clock.advance(250);
    assert.equal(waits(beforeMs), 61_740, 'by now every caller can know');
  });
}
