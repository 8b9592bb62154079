import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createSlidingWindow,
  type Decision,
  decide,
  exactMs,
  isIdle,
  type Limits,
  peek,
  type SlidingWindow,
} from './sliding-window.ts';

const free: Limits = { perMinute: 60, burst: 20 };
const pro: Limits = { perMinute: 600, burst: 200 };
const enterprise: Limits = { perMinute: 6000, burst: 2000 };
const plans: Limits[] = [
  free,
  pro,
  enterprise,
  { perMinute: 1, burst: 1 },
  { perMinute: 7, burst: 1 },
  { perMinute: 5, burst: 9 },
  { perMinute: 40, burst: 40 },
  { perMinute: 200, burst: 5 },
];

/** The least time the limiter tells apart. */
const tickMs = 1 / 1024;

/** Section 4 of the contract again, in the plainest way there is: it keeps all admitted times and counts them. */
class Model {
  readonly admitted: number[] = [];
  limits: Limits | undefined;
  block: { naturalMs: number; lengthMs: number; endMs: number; movedAtMs: number } | undefined;
  moves = 0;
  caps = 0;

  within(windowMs: number, atMs: number): number {
    let count = 0;
    for (let i = this.admitted.length - 1; i >= 0; i--) {
      const time = this.admitted[i] ?? 0;
      if (atMs >= time + windowMs) break;
      count++;
    }
    return count;
  }

  /** The first moment from now on at which fewer than the limit count. */
  nextFree(limit: number, windowMs: number, nowMs: number): number {
    const surplus = this.within(windowMs, nowMs) - limit;
    if (surplus < 0) return nowMs;
    const counted = this.admitted.slice(-surplus - limit);
    return (counted[surplus] ?? 0) + windowMs;
  }

  decide(limits: Limits, nowMs: number): Decision {
    if (this.limits?.perMinute !== limits.perMinute || this.limits.burst !== limits.burst) this.block = undefined;
    this.limits = limits;
    if (this.block !== undefined && nowMs < this.block.endMs) {
      const { block } = this;
      if (nowMs - block.movedAtMs >= 250) {
        const bound = block.naturalMs + block.lengthMs;
        if (block.endMs + 1000 > bound) this.caps++;
        block.endMs = Math.min(block.endMs + 1000, bound);
        block.movedAtMs = nowMs;
        this.moves++;
      }
      return this.refusal(block.endMs, block.lengthMs, nowMs);
    }
    const minute = this.nextFree(limits.perMinute, 60_000, nowMs);
    const burst = this.nextFree(limits.burst, 1_000, nowMs);
    if (minute > nowMs || burst > nowMs) {
      const naturalMs = Math.max(minute, burst);
      const lengthMs = minute === naturalMs ? 60_000 : 1_000;
      this.block = { naturalMs, lengthMs, endMs: naturalMs, movedAtMs: nowMs };
      return this.refusal(naturalMs, lengthMs, nowMs);
    }
    this.block = undefined;
    this.admitted.push(nowMs);
    const nextFreeMs =
      Math.max(this.nextFree(limits.perMinute, 60_000, nowMs), this.nextFree(limits.burst, 1_000, nowMs)) - nowMs;
    return {
      admitted: true,
      limits,
      remaining: limits.perMinute - this.within(60_000, nowMs),
      resetMs: 60_000,
      nextFreeMs: Math.ceil(nextFreeMs),
      retryAfterMs: 0,
      refusedBy: undefined,
    };
  }

  refusal(endMs: number, lengthMs: number, nowMs: number): Decision {
    const wholeMs = (this.admitted.at(-1) ?? nowMs) + 60_000 - nowMs;
    const retryAfterMs = Math.ceil(endMs - nowMs);
    return {
      admitted: false,
      limits: this.limits ?? free,
      remaining: 0,
      resetMs: Math.max(Math.ceil(wholeMs), retryAfterMs),
      nextFreeMs: retryAfterMs,
      retryAfterMs,
      refusedBy: lengthMs === 60_000 ? 'minute' : 'burst',
    };
  }
}

/** A small random source with a seed, so that a failure can be run again. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Times at which something turns. */
const turns = [249, 250 - tickMs, 250, 251, 999, 1000 - tickMs, 1000, 59_999, 60_000 - tickMs, 60_000];

/** A caller sends at about `pace` times its limit's rate, and after a refusal has one habit or another. */
function pause(random: () => number, mood: { pace: number; stubborn: boolean }, last: Decision): number {
  const { perMinute } = last.limits;
  const one = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
  if (last.admitted) mood.stubborn = random() < 0.1;
  else if (mood.stubborn) return exactMs(250 + random() * 20);
  else if (random() < 0.5) {
    const { retryAfterMs } = last;
    const whole = Math.ceil(retryAfterMs / 1000) * 1000;
    return one([0, 0, 0, exactMs(random() * 600), one(turns.slice(0, 7)), retryAfterMs - 1, retryAfterMs, whole]);
  }
  if (random() < 3 / perMinute) mood.pace = one([0.5, 1, 3, 300, 300]);
  const rareness = random() * perMinute;
  if (rareness < 0.2) return exactMs(random() * 30_000);
  if (rareness < 0.4) return one(turns);
  return random() < 0.3 ? 0 : exactMs((random() * 60_000) / perMinute / mood.pace);
}

/** Whatever a decision says must come true. Each claim is tried out on a copy. */
function checkClaims(window: SlidingWindow, decision: Decision, nowMs: number): void {
  const { limits, resetMs, retryAfterMs, remaining, nextFreeMs } = decision;
  const later = (ms: number) => decide(structuredClone(window), limits, nowMs + ms);
  const stands = (ms: number) => peek(structuredClone(window), limits, nowMs + ms);

  assert.equal(later(nextFreeMs).admitted, true, 'the next free slot is free');
  if (nextFreeMs > 0) assert.equal(later(nextFreeMs - 1).admitted, false, 'and none before');
  assert.equal(stands(resetMs).remaining, limits.perMinute, 'the quota is whole at Reset');
  if (!decision.admitted) {
    assert.equal(remaining, 0);
    assert.ok(resetMs >= retryAfterMs);
    assert.equal(later(retryAfterMs).admitted, true, 'waiting it out admits');
    assert.equal(later(Math.ceil(retryAfterMs / 1000) * 1000).admitted, true, 'so do the whole seconds of the header');
    return;
  }
  assert.ok(stands(resetMs - 1).remaining < limits.perMinute, 'and not before');
  const copy = structuredClone(window);
  const unhurried = { perMinute: limits.perMinute, burst: Number.MAX_SAFE_INTEGER };
  for (let left = remaining; left > 0; left--) assert.equal(decide(copy, unhurried, nowMs).admitted, true);
  assert.equal(decide(copy, unhurried, nowMs).admitted, false, 'Remaining is what can still be sent, and no more');
}

function walk(seed: number, steps: number, choose: (random: () => number, now: Limits) => Limits) {
  const random = createRandom(seed);
  const window = createSlidingWindow();
  const model = new Model();
  const reached = { admitted: 0, minute: 0, burst: 0, moves: 0, caps: 0, changes: 0 };
  const mood = { pace: 3, stubborn: false };
  let nowMs = exactMs(random() * 1e9);
  let limits = choose(random, free);
  let last = peek(window, limits, nowMs);
  for (let step = 0; step < steps; step++) {
    nowMs += pause(random, mood, last);
    const chosen = choose(random, limits);
    if (chosen !== limits) reached.changes++;
    limits = chosen;
    const foretold = random() < 0.02 ? peek(window, limits, nowMs).admitted : undefined;
    last = decide(window, limits, nowMs);
    const expected = model.decide(limits, nowMs);
    if (!isEqual(last, expected)) assert.deepEqual(last, expected, `seed ${seed}, step ${step}`);
    if (foretold !== undefined) assert.equal(foretold, last.admitted, 'a peek foretells the decision');
    if (random() < Math.min(0.02, 10 / limits.perMinute)) checkClaims(window, last, nowMs);
    if (last.admitted) assert.ok(window.times.length <= limits.perMinute);
    reached[last.refusedBy ?? 'admitted']++;
  }
  reached.moves = model.moves;
  reached.caps = model.caps;
  return { admitted: model.admitted, reached };
}

function isEqual(a: Decision, b: Decision): boolean {
  return (
    a.admitted === b.admitted &&
    a.limits === b.limits &&
    a.remaining === b.remaining &&
    a.resetMs === b.resetMs &&
    a.nextFreeMs === b.nextFreeMs &&
    a.retryAfterMs === b.retryAfterMs &&
    a.refusedBy === b.refusedBy
  );
}

for (const [index, limits] of plans.entries()) {
  const steps = 20_000 + 5 * limits.perMinute;
  test(`${steps} random steps at ${limits.perMinute}/min and ${limits.burst}/s agree with the model`, () => {
    const { admitted, reached } = walk(index + 1, steps, () => limits);
    for (const [limit, windowMs] of [
      [limits.perMinute, 60_000],
      [limits.burst, 1_000],
    ] as const) {
      for (let i = limit; i < admitted.length; i++) {
        const spanMs = (admitted[i] ?? 0) - (admitted[i - limit] ?? 0);
        assert.ok(spanMs >= windowMs, `more than ${limit} admitted within ${windowMs} ms`);
      }
    }
    const canBurst = limits.burst < limits.perMinute;
    const least = Math.min(
      reached.admitted,
      reached.minute,
      canBurst ? reached.burst : 1e9,
      reached.moves,
      reached.caps,
    );
    assert.ok(least >= 5, `the walk must come everywhere: ${JSON.stringify(reached)}`);
  });
}

test('60,000 random steps with plans that change up and down in mid-flight agree with the model', () => {
  const total = { admitted: 0, minute: 0, burst: 0, moves: 0, caps: 0, changes: 0 };
  for (const seed of [101, 102, 103]) {
    const { reached } = walk(seed, 20_000, (random, now) =>
      random() < 0.01 ? (plans[Math.floor(random() * plans.length)] ?? free) : now,
    );
    for (const what of Object.keys(total) as (keyof typeof total)[]) total[what] += reached[what];
  }
  assert.ok(Math.min(...Object.values(total)) >= 20, `the walk must come everywhere: ${JSON.stringify(total)}`);
});

test('any sequence of pauses and small plans agrees with the model', () => {
  const small: Limits[] = [
    { perMinute: 1, burst: 1 },
    { perMinute: 3, burst: 2 },
    { perMinute: 4, burst: 9 },
    { perMinute: 12, burst: 3 },
  ];
  const pauses = fc.oneof(
    fc.constantFrom(0, 0, 0, 1, 249, 250, 251, 999, 1000, 1001, 59_999, 60_000),
    fc.integer({ min: 0, max: 70_000 * 1024 }).map((ticks) => ticks * tickMs),
  );
  const step = fc.record({ pauseMs: pauses, plan: fc.nat({ max: small.length * 8 - 1 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const window = createSlidingWindow();
      const model = new Model();
      let nowMs = 0;
      let limits = small[0] ?? free;
      for (const { pauseMs, plan } of steps) {
        nowMs += pauseMs;
        limits = small[plan] ?? limits;
        const decision = decide(window, limits, nowMs);
        assert.deepEqual(decision, model.decide(limits, nowMs));
        checkClaims(window, decision, nowMs);
      }
    }),
    { numRuns: 500 },
  );
});

/** Sends so many at once and returns the last answer. */
function send(window: SlidingWindow, limits: Limits, nowMs: number, count = 1): Decision {
  let last = decide(window, limits, nowMs);
  for (let sent = 1; sent < count; sent++) last = decide(window, limits, nowMs);
  return last;
}

test('a slot is free again at exactly t + window, and not before', () => {
  const window = createSlidingWindow();
  const limits = { perMinute: 2, burst: 1 };
  assert.equal(send(window, limits, 0.5).admitted, true);
  assert.equal(send(structuredClone(window), limits, 1000.5 - tickMs).admitted, false);
  assert.equal(send(window, limits, 1000.5).admitted, true);
  assert.equal(send(structuredClone(window), limits, 60_000.5 - tickMs).admitted, false);
  assert.equal(send(window, limits, 60_000.5).admitted, true);
});

test('a refusal charges neither window', () => {
  const window = createSlidingWindow();
  assert.equal(send(window, free, 0, 20).remaining, 40);
  assert.equal(send(window, free, 0, 500).admitted, false);
  assert.equal(window.count, 20);
  assert.deepEqual([peek(window, free, 1000).remaining, send(window, free, 1000).remaining], [40, 39]);
});

test('when both windows are full, Retry-After covers both', () => {
  const window = createSlidingWindow();
  const limits = { perMinute: 3, burst: 2 };
  send(window, limits, 0);
  send(window, limits, 59_500, 2);
  const refused = send(window, limits, 59_600);
  assert.deepEqual([refused.retryAfterMs, refused.refusedBy], [900, 'burst']);
  assert.equal(
    send(structuredClone(window), limits, 60_000).admitted,
    false,
    'the minute alone would have admitted it',
  );
  assert.equal(send(window, limits, 60_500).admitted, true);
});

test('requests in flight at the first refusal do not lengthen the block, one after 250 ms does', () => {
  const window = createSlidingWindow();
  send(window, free, 0, 20);
  assert.equal(send(window, free, 100).retryAfterMs, 900);
  assert.equal(send(window, free, 200, 50).retryAfterMs, 800);
  assert.equal(send(window, free, 350 - tickMs, 50).retryAfterMs, 651);
  assert.equal(send(window, free, 350).retryAfterMs, 1650);
  assert.equal(send(window, free, 599, 50).retryAfterMs, 1401, 'counted anew from the move');
});

test('an early retry ends later, but at most one window after the natural end', () => {
  for (const [limits, lengthMs] of [
    [{ perMinute: 5, burst: 9 }, 60_000],
    [{ perMinute: 60, burst: 5 }, 1_000],
  ] as const) {
    const window = createSlidingWindow();
    send(window, limits, 0, 5);
    let endMs = send(window, limits, 0).retryAfterMs;
    const naturalMs = endMs;
    assert.equal(naturalMs, lengthMs);
    for (let nowMs = 250; nowMs < naturalMs + lengthMs; nowMs += 250) {
      const retry = send(window, limits, nowMs);
      assert.equal(retry.admitted, false);
      const laterMs = nowMs + retry.retryAfterMs;
      assert.equal(laterMs, Math.min(endMs + 1000, naturalMs + lengthMs));
      endMs = laterMs;
    }
    assert.equal(endMs, naturalMs + lengthMs);
    assert.equal(send(window, limits, endMs).admitted, true);
  }
});

test('a tie is the minute’s', () => {
  const window = createSlidingWindow();
  const limits = { perMinute: 2, burst: 1 };
  send(window, limits, 0);
  send(window, limits, 59_000);
  const refused = send(window, limits, 59_500);
  assert.deepEqual([refused.refusedBy, refused.retryAfterMs], ['minute', 500]);
});

test('a plan change ends a block and decides afresh from the same history', () => {
  const window = createSlidingWindow();
  for (let second = 0; second < 3; second++) send(window, free, second * 1000, 20);
  assert.equal(send(window, free, 3000).refusedBy, 'minute');
  const upgraded = send(window, pro, 3000);
  assert.deepEqual([upgraded.admitted, upgraded.remaining], [true, 600 - 61]);
  assert.equal(send(window, pro, 3000, 139).remaining, 400);

  const downgraded = send(window, free, 3100);
  assert.deepEqual([downgraded.admitted, downgraded.remaining], [false, 0]);
  assert.equal(downgraded.retryAfterMs, 59_900, 'when fewer than 60 of the 200 count');
  assert.equal(send(structuredClone(window), pro, 3200).remaining, 600 - 201, 'and up again: nothing was forgotten');
  assert.equal(peek(window, free, 62_999).remaining, 0);
  assert.equal(send(window, free, 63_000).remaining, 59);
  assert.ok(window.times.length <= 60, 'the larger ring is given back');
});

test('the same numbers in another object are no plan change', () => {
  const window = createSlidingWindow();
  send(window, free, 0, 21);
  assert.equal(send(window, { ...free }, 500).retryAfterMs, 1500);
});

test('peek charges nothing and punishes nothing', () => {
  const window = createSlidingWindow();
  assert.deepEqual(peek(window, free, 0), {
    admitted: true,
    limits: free,
    remaining: 60,
    resetMs: 0,
    nextFreeMs: 0,
    retryAfterMs: 0,
    refusedBy: undefined,
  });
  send(window, free, 0, 21);
  const before = structuredClone(window);
  const blocked = peek(window, free, 0);
  assert.deepEqual(
    [blocked.admitted, blocked.remaining, blocked.nextFreeMs, blocked.resetMs],
    [false, 0, 1000, 60_000],
  );
  for (let nowMs = 0; nowMs < 1000; nowMs += 50) assert.equal(peek(window, free, nowMs).admitted, false);
  assert.deepEqual({ ...window, seenMs: 0 }, { ...before, seenMs: 0 });
  assert.equal(peek(window, free, 1000).remaining, 40);
  assert.equal(peek(window, { perMinute: 60, burst: 30 }, 0).remaining, 40, 'a plan change would end the block');
});

test('a clock that goes back locks nobody out and forgets nothing', () => {
  for (const stepMs of [1, 5000, 3_600_000]) {
    const window = createSlidingWindow();
    const startMs = 10_000_000;
    send(window, free, startMs, 20);
    send(window, free, startMs + 10_000, 20);
    assert.equal(send(window, free, startMs + 10_000).retryAfterMs, 1000);
    const nowMs = startMs + 10_000 - stepMs;
    assert.equal(send(window, free, nowMs).retryAfterMs, 1000, 'the block ends as soon as it would have');
    assert.equal(send(window, free, nowMs + 1000).remaining, 19);
    assert.equal(peek(window, free, nowMs + 50_000).remaining, 60 - 21, 'and the history runs out as it would have');
    assert.equal(isIdle(window, nowMs + 61_000), true);
  }
});

test('a window is idle when nothing counts and no block is open', () => {
  const window = createSlidingWindow();
  assert.equal(isIdle(window, 0), true);
  send(window, { perMinute: 1, burst: 1 }, 0);
  assert.equal(isIdle(structuredClone(window), 59_999), false);
  assert.equal(isIdle(structuredClone(window), 60_000), true);
  send(window, { perMinute: 1, burst: 1 }, 59_000);
  send(window, { perMinute: 1, burst: 1 }, 59_500);
  assert.equal(isIdle(window, 60_500), false, 'the block was moved to 61,000');
  assert.equal(isIdle(window, 61_000), true);
});

test('a ring grows with use up to its limit, and an idle one is given back', () => {
  const window = createSlidingWindow();
  const lengths = new Set<number>();
  for (let sent = 0; sent < 6000; sent++) {
    decide(window, { perMinute: 6000, burst: 6000 }, 0);
    lengths.add(window.times.length);
  }
  assert.deepEqual([...lengths], [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6000]);
  assert.equal(isIdle(window, 60_000), true);
  assert.equal(window.times.length, 0);
});

test('with readings in nanoseconds, as the real clock gives them, waiting the exact time still admits', () => {
  const limits = { perMinute: 1, burst: 1 };
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 31 - 1 }), fc.nat({ max: 2 ** 20 }), (low, high) => {
      const readingMs = (high * 2 ** 31 + low) / 1e6;
      const nowMs = exactMs(readingMs);
      assert.ok(nowMs <= readingMs && readingMs - nowMs < 2 * tickMs);
      const window = createSlidingWindow();
      decide(window, limits, nowMs);
      assert.equal(decide(window, limits, nowMs).retryAfterMs, 60_000);
      assert.equal(decide(window, limits, exactMs(readingMs + 60_000)).admitted, true);
    }),
    { numRuns: 2000 },
  );
});
