import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../../test/support/clock.ts';
import { createSubmitRate } from './rate.ts';

function takeFor(
  rate: ReturnType<typeof createSubmitRate>,
  clock: ReturnType<typeof createTestClock>,
  ms: number,
): number {
  let taken = 0;
  for (let passed = 0; passed < ms; passed += 5) {
    while (taken < 1_000_000 && take(rate)) taken++;
    clock.advance(5);
  }
  return taken;
}

/** Takes a right, and writes the part at once. */
function take(rate: ReturnType<typeof createSubmitRate>): boolean {
  const taken = rate.take();
  if (taken) rate.noteWritten();
  return taken;
}

describe('the rate of a carrier', () => {
  test('in no second more parts are written than are allowed, however callers, writes and shares are timed', () => {
    const step = fc.record({
      ms: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 1500 })),
      /** How many of the parts that wait for the socket are written then. */
      writes: fc.nat({ max: 600 }),
      isUnsent: fc.boolean(),
      share: fc.constantFrom(1, 1, 1, 1 / 2, 1 / 3),
    });
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 500 }), fc.double({ min: 0.1, max: 20, noNaN: true })),
        fc.array(step, { maxLength: 80 }),
        (perSecond, steps) => {
          const clock = createTestClock();
          const rate = createSubmitRate(clock, perSecond);
          let allowed = perSecond;
          let unwritten = 0;
          const written: number[] = [];
          const times: { ms: number; allowed: number }[] = [];
          for (const { ms, writes, isUnsent, share } of steps) {
            clock.advance(ms);
            if (isUnsent && unwritten > 0) {
              unwritten--;
              rate.noteUnsent();
            }
            for (let n = 0; n < writes && unwritten > 0; n++, unwritten--) {
              rate.noteWritten();
              written.push(clock.steadyMs());
            }
            allowed = perSecond * share;
            rate.setLimit(allowed);
            for (let tries = 0; tries < 1000 && rate.take(); tries++) {
              times.push({ ms: clock.steadyMs(), allowed });
              unwritten++;
            }
            // The parts written in the last second, and those that have a right but are not written yet, stay within the
            // rate.
            const recent = written.filter((time) => time > clock.steadyMs() - 1000).length + unwritten;
            const wasTaken = times.at(-1)?.ms === clock.steadyMs();
            assert.ok(!wasTaken || recent <= Math.max(1, allowed), `${recent} in a second, ${allowed} allowed`);
          }
          for (const [index, from] of written.entries()) {
            const within = written.slice(index).filter((time) => time < from + 1000).length;
            assert.ok(within <= Math.max(1, perSecond), `${within} in a second, ${perSecond} allowed`);
          }
        },
      ),
    );
  });

  test('a limit that comes while parts leave without one holds from its first second on', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, null);
    for (let sent = 0; sent < 100; sent++) {
      assert.ok(rate.take());
      rate.noteWritten();
    }
    rate.setLimit(50);
    assert.equal(takeFor(rate, clock, 1000), 0);
    assert.ok(takeFor(rate, clock, 1000) > 0);
  });

  test('reaches what is allowed', () => {
    const clock = createTestClock();
    const taken = takeFor(createSubmitRate(clock, 200), clock, 10_000);
    assert.ok(taken >= 1950 && taken <= 2020, `${taken} in ten seconds`);
  });

  test('pauses and halves when the carrier is throttled, and recovers', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, 100);
    takeFor(rate, clock, 2000);
    rate.noteThrottled();
    rate.noteThrottled();
    assert.equal(rate.isPaused, true);
    assert.equal(takeFor(rate, clock, 1000), 0);
    rate.noteAccepted();
    const slow = takeFor(rate, clock, 1000);
    assert.ok(slow >= 40 && slow <= 60, `${slow} a second after it was throttled`);
    clock.advance(80_000);
    const recovered = takeFor(rate, clock, 1000);
    assert.ok(recovered >= 95, `${recovered} a second after a while`);
  });

  test('is halved once however long the carrier refuses, so that it is soon as fast as before', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, null);
    for (let sent = 0; sent < 80; sent++, clock.advance(25)) take(rate);
    // Two pauses end with one text that is refused again, as when a provider is busy for two seconds.
    for (let times = 0; times < 3; times++) {
      rate.noteThrottled();
      while (!take(rate)) clock.advance(10);
    }
    rate.noteAccepted();
    const slow = takeFor(rate, clock, 1000);
    assert.ok(slow >= 17 && slow <= 23, `${slow} a second of 40 after it was throttled`);
    // Throttled again soon after the pause: halves the rate that was allowed, not the rate of the few parts sent since.
    rate.noteThrottled();
    clock.advance(1000);
    const slower = takeFor(rate, clock, 1000);
    assert.ok(slower >= 8 && slower <= 12, `${slower} a second after it was throttled again`);
  });

  test('is as fast as before two minutes after ten seconds in which every third text was refused', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, null);
    const send = (texts: number, everyMs: number) => {
      for (let sent = 0; sent < texts; sent++, clock.advance(everyMs)) take(rate);
    };
    send(160, 25);
    for (const untilMs = clock.steadyMs() + 10_000; clock.steadyMs() < untilMs; clock.advance(10)) {
      if (!take(rate)) continue;
      rate.noteAccepted();
      rate.noteThrottled();
    }
    assert.ok(takeFor(rate, clock, 1000) <= 3, 'slow at first');
    clock.advance(60_000);
    const halfway = takeFor(rate, clock, 1000);
    assert.ok(halfway >= 15 && halfway <= 35, `${halfway} a second of 40 after a minute`);
    clock.advance(60_000);
    const recovered = takeFor(rate, clock, 1000);
    assert.ok(recovered >= 40, `${recovered} a second of 40 after two minutes`);
  });

  test('finds the rate of a carrier that takes fewer texts than there are', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, null);
    const allowed = 50;
    let accepted = 0;
    let refused = 0;
    for (let second = 0; second < 600; second++) {
      let inSecond = 0;
      for (let passed = 0; passed < 1000; passed += 5, clock.advance(5)) {
        for (let burst = 0; burst < 40 && take(rate); burst++) {
          if (inSecond < allowed) {
            inSecond++;
            accepted++;
            rate.noteAccepted();
          } else {
            refused++;
            rate.noteThrottled();
          }
        }
      }
    }
    assert.ok(accepted > 0.6 * 600 * allowed, `${accepted} accepted of ${600 * allowed}`);
    assert.ok(refused < 0.01 * accepted, `${refused} refused beside ${accepted} accepted`);
  });

  test('the pauses grow only while nothing is accepted between them', () => {
    const clock = createTestClock();
    const rate = createSubmitRate(clock, null);
    const pauses: number[] = [];
    const throttle = () => {
      const fromMs = clock.steadyMs();
      rate.noteThrottled();
      while (rate.isPaused) clock.advance(100);
      pauses.push(clock.steadyMs() - fromMs);
    };
    for (let times = 0; times < 7; times++) throttle();
    rate.noteAccepted();
    throttle();
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000]);
  });
});
