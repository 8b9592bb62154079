import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { createTestClock, type TestClock } from '../../test/support/clock.ts';
import { inShort } from '../../test/support/effort.ts';
import { type Limiter, longAgo } from '../../test/support/limiter-model.ts';
import { describeLimiter } from '../../test/support/limiter-suite.ts';
import type { LimitDecision } from '../http/admission.ts';
import { ApiError } from '../platform/errors.ts';
import { createMetrics } from '../platform/metrics/metrics.ts';
import { createNodeWindows } from './node-windows.ts';
import { createParentWindows } from './parent-windows.ts';
import { createSlidingWindow, decide, giveBack, peek, type SlidingWindow } from './sliding-window.ts';
import { keepWindows } from './window-keeper.ts';
import type { LocalWindows } from './windows.ts';

const free = { perMinute: 60, burst: 20 };

interface Ends {
  child: Duplex;
  parent: Duplex;
  /** How many writes the child's side made. */
  writes: () => number;
  /** While held, nothing reaches the parent. */
  hold(held: boolean): void;
}

/** Two ends of a channel in memory. */
function createEnds(): Ends {
  let writes = 0;
  let isHeld = false;
  let held: Buffer[] = [];
  const child = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      writes++;
      if (isHeld) held.push(bytes);
      else parent.push(bytes);
      done();
    },
  });
  const parent: Duplex = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      child.push(bytes);
      done();
    },
  });
  return {
    child,
    parent,
    writes: () => writes,
    hold(now) {
      isHeld = now;
      if (now) return;
      for (const bytes of held) parent.push(bytes);
      held = [];
    },
  };
}

const noWindows: LocalWindows = {
  size: 0,
  decide: () => assert.fail('other windows were asked'),
  peek: () => assert.fail('other windows were asked'),
  giveBack: () => assert.fail('other windows were asked'),
};

/** One caller's windows, behind a channel. */
function limiterBehindChannel(window: SlidingWindow): Limiter {
  const { child, parent } = createEnds();
  let nowMs = 0;
  const registrations: LocalWindows = {
    size: 1,
    decide: (_, limits, informedAtMs) => decide(window, limits, nowMs, nowMs - informedAtMs),
    peek: (_, limits) => peek(window, limits, nowMs),
    giveBack: (_, decision) => giveBack(window, decision, nowMs),
  };
  const others = { visitors: noWindows, clients: noWindows, passwords: noWindows };
  // The parent's process is older than the child's, so their clocks differ.
  keepWindows(parent, { windows: { registrations, ...others }, machineAheadMs: 5000, onBroken: assert.fail });
  const { windows } = createParentWindows(child, { clock: createTestClock(), machineAheadMs: 5000 });
  return {
    decide(limits, atMs, quietMs) {
      nowMs = atMs;
      return windows.registrations.decide('one', limits, atMs - quietMs);
    },
    peek(limits, atMs) {
      nowMs = atMs;
      return windows.registrations.peek('one', limits);
    },
    giveBack(decision, atMs) {
      nowMs = atMs;
      return windows.registrations.giveBack('one', decision);
    },
    copy: () => limiterBehindChannel(structuredClone(window)),
  };
}

describeLimiter('windows in the parent', {
  newLimiter: () => limiterBehindChannel(createSlidingWindow()),
  // A little more than the error of two clock readings.
  tickMs: 1 / 64,
  effort: inShort({ steps: 300, fills: 1, runs: 6 }, { steps: 5000, fills: 2, runs: 100 }),
  mostPerMinute: 100,
});

interface Node {
  clock: TestClock;
  ends: Ends[];
  processes: ReturnType<typeof createParentWindows>[];
}

/** A parent and its web processes, in one. */
function createNode(count: number, withinMs = 2000): Node {
  const clock = createTestClock();
  const windows = createNodeWindows(clock, createMetrics());
  const ends = Array.from({ length: count }, createEnds);
  const options = { clock, machineAheadMs: 0, withinMs };
  for (const { parent } of ends) keepWindows(parent, { windows, machineAheadMs: 0, onBroken: assert.fail });
  return { clock, ends, processes: ends.map(({ child }) => createParentWindows(child, options)) };
}

const admittedOf = (decisions: LimitDecision[]) => decisions.filter(({ admitted }) => admitted).length;

describe('processes of one node', () => {
  test('grant one limit together, whichever of them is asked', async () => {
    const { clock, processes } = createNode(4);
    const askAll = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const { windows } = processes[index % 4] ?? assert.fail('there are four');
          return windows.registrations.decide('reg', free, longAgo);
        }),
      );
    assert.equal(admittedOf(await askAll(200)), 20, 'the second is full');
    clock.advance(2000);
    assert.equal(admittedOf(await askAll(20)), 20);
    clock.advance(2000);
    assert.equal(admittedOf(await askAll(200)), 20, 'the minute is full');
    clock.advance(2000);
    assert.equal(admittedOf(await askAll(200)), 0);
  });

  test('each kind of caller has windows of its own', async () => {
    const { processes } = createNode(1);
    const { windows } = processes[0] ?? assert.fail('there is one');
    const one = { perMinute: 1, burst: 1 };
    for (const kind of ['registrations', 'visitors', 'clients', 'passwords'] as const) {
      assert.equal((await windows[kind].decide('same key', one, longAgo)).admitted, true, kind);
      assert.equal((await windows[kind].decide('same key', one, longAgo)).admitted, false, kind);
      assert.equal((await windows[kind].peek('same key', one)).remaining, 0, kind);
    }
  });

  test('all questions of a turn are one write', async () => {
    const { ends, processes } = createNode(1);
    const { windows } = processes[0] ?? assert.fail('there is one');
    const asked = Array.from({ length: 500 }, (_, index) =>
      windows.visitors.decide(`10.0.0.${index % 7}`, free, longAgo),
    );
    await Promise.all(asked);
    assert.equal(ends[0]?.writes(), 1);
  });

  test('while two writes are under way, further questions wait, and go out together', async () => {
    const { ends, processes } = createNode(1);
    const [end, one] = [ends[0] ?? assert.fail('one'), processes[0] ?? assert.fail('one')];
    end.hold(true);
    const asked: unknown[] = [];
    for (let turn = 0; turn < 10; turn++) {
      asked.push(one.windows.registrations.decide('reg', free, longAgo));
      await new Promise((next) => setImmediate(next));
    }
    assert.equal(end.writes(), 2);
    end.hold(false);
    assert.equal(admittedOf((await Promise.all(asked)) as LimitDecision[]), 10);
    assert.equal(end.writes(), 3);
  });
});

describe('a parent that does not answer', () => {
  /** Advances the test's clock until the questions of this turn have timed out. */
  async function giveUp(clock: TestClock): Promise<void> {
    await new Promise((next) => setImmediate(next));
    clock.advance(1000);
    await new Promise((next) => setTimeout(next, 5));
  }

  test('makes a 503 of a request, at once while it is silent, and its late answers reach no other request', async () => {
    const { clock, ends, processes } = createNode(1, 1);
    const [end, one] = [ends[0] ?? assert.fail('one'), processes[0] ?? assert.fail('one')];
    const { windows, isAnswering } = one;
    const two = { perMinute: 2, burst: 2 };
    end.hold(true);
    const undecided = [
      assert.rejects(async () => windows.registrations.decide('reg', two, longAgo), isUnavailable),
      assert.rejects(async () => windows.registrations.decide('other', two, longAgo), isUnavailable),
    ];
    const standing = windows.visitors.peek('10.0.0.1', two);
    await giveUp(clock);
    await Promise.all(undecided);
    assert.deepEqual([(await standing).remaining, (await standing).admitted], [0, false]);
    assert.equal(isAnswering(), false);
    await assert.rejects(async () => windows.registrations.decide('reg', two, longAgo), isUnavailable);
    end.hold(false);
    await new Promise((next) => setTimeout(next, 5));
    assert.equal(isAnswering(), true);
    const decision = await windows.registrations.decide('reg', two, longAgo);
    assert.deepEqual(
      [decision.admitted, decision.remaining],
      [true, 1],
      'the request that got a 503 gave its slot back',
    );
  });

  function isUnavailable(error: unknown): boolean {
    assert.ok(error instanceof ApiError, 'it is an answer for the caller');
    assert.deepEqual([error.status, error.retryAfterMs], [503, 1000]);
    return true;
  }
});
