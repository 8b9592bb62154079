import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { LimitDecision, Limits } from '../../src/http/admission.ts';
import { checkClaims, type Limiter, Model, neverInformed, onItsWay, pro, sixty, walk } from './limiter-model.ts';

const plans: Limits[] = [
  sixty,
  pro,
  { perMinute: 6000, burst: 2000 },
  { perMinute: 1, burst: 1 },
  { perMinute: 7, burst: 1 },
  { perMinute: 5, burst: 9 },
  { perMinute: 40, burst: 40 },
  { perMinute: 100, burst: 5 },
];

const small: Limits[] = [
  { perMinute: 1, burst: 1 },
  { perMinute: 3, burst: 2 },
  { perMinute: 4, burst: 9 },
  { perMinute: 12, burst: 3 },
];

export interface LimiterSuite {
  /** The windows of a new caller. */
  newLimiter: () => Limiter;
  tickMs: number;
  /** How many steps the walks and how many runs the properties have. */
  effort: { steps: number; fills: number; runs: number };
  /** Larger plans are left out: to fill them takes as many steps. */
  mostPerMinute?: number;
}

/** What every keeper of windows must hold, in this process or shared by several. */
export function describeLimiter(name: string, { newLimiter, tickMs, effort, mostPerMinute }: LimiterSuite): void {
  const tried = plans.filter(({ perMinute }) => perMinute <= (mostPerMinute ?? perMinute));
  /** Sends this many at once and returns the answer that was decided last, by whichever node. */
  async function send(
    limiter: Limiter,
    limits: Limits,
    nowMs: number,
    count = 1,
    quietMs = onItsWay,
  ): Promise<LimitDecision> {
    const answers = await Promise.all(Array.from({ length: count }, () => limiter.decide(limits, nowMs, quietMs)));
    return answers.reduce((last, next) => (next.remaining < last.remaining || !next.admitted ? next : last));
  }

  describe(name, () => {
    for (const [index, limits] of tried.entries()) {
      const steps = effort.steps + Math.ceil(effort.fills * limits.perMinute);
      test(`${steps} random steps at ${limits.perMinute}/min and ${limits.burst}/s agree with the model`, async () => {
        const seed = index + 1;
        const { admitted, reached } = await walk({ limiter: newLimiter(), tickMs, seed, steps, choose: () => limits });
        for (const [limit, windowMs] of [
          [limits.perMinute, 60_000],
          [limits.burst, 1_000],
        ] as const) {
          for (let i = limit; i < admitted.length; i++) {
            const spanMs = (admitted[i] ?? 0) - (admitted[i - limit] ?? 0);
            assert.ok(spanMs >= windowMs, `more than ${limit} admitted within ${windowMs} ms`);
          }
        }
        const bursts = limits.burst < limits.perMinute ? reached.burst : 1e9;
        const least = Math.min(reached.admitted, reached.minute, bursts, reached.moves);
        assert.ok(
          least >= 3 && Math.min(reached.early, reached.spared) >= 1,
          `the walk must come everywhere: ${JSON.stringify(reached)}`,
        );
      });
    }

    test('random steps with plans that change up and down in mid-flight agree with the model', async () => {
      const total = { admitted: 0, minute: 0, burst: 0, moves: 0, early: 0, spared: 0, caps: 0, changes: 0 };
      const choose = (random: () => number, now: Limits) =>
        random() < 0.01 ? (plans[Math.floor(random() * plans.length)] ?? sixty) : now;
      for (const seed of [101, 102, 103]) {
        const { reached } = await walk({ limiter: newLimiter(), tickMs, seed, steps: effort.steps, choose });
        for (const what of Object.keys(total) as (keyof typeof total)[]) total[what] += reached[what];
      }
      assert.ok(Math.min(...Object.values(total)) >= 5, `the walk must come everywhere: ${JSON.stringify(total)}`);
    });

    test('random steps, some of them given back, agree with the model', async () => {
      const total = { ofAll: 0, inLockout: 0 };
      for (const [index, limits] of small.entries()) {
        const steps = { limiter: newLimiter(), tickMs, seed: 201 + index, steps: effort.steps, choose: () => limits };
        const { given } = await walk({ ...steps, givesBack: true });
        total.ofAll += given.ofAll;
        total.inLockout += given.inLockout;
      }
      assert.ok(total.ofAll >= 20 && total.inLockout >= 5, JSON.stringify(total));
    });

    test('any sequence of pauses and small plans agrees with the model', async () => {
      const pauses = fc.oneof(
        fc.constantFrom(0, 0, 0, 1, 249, 250, 251, 999, 1000, 1001, 59_999, 60_000),
        fc.integer({ min: 0, max: 70_000 / tickMs }).map((ticks) => ticks * tickMs),
      );
      const step = fc.record({
        pauseMs: pauses,
        quietMs: fc.oneof(fc.constantFrom(onItsWay, neverInformed), pauses),
        plan: fc.nat({ max: small.length * 8 - 1 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
          const limiter = newLimiter();
          const model = new Model();
          let nowMs = 0;
          let limits = small[0] ?? sixty;
          for (const { pauseMs, quietMs, plan } of steps) {
            nowMs += pauseMs;
            limits = small[plan] ?? limits;
            const decision = await limiter.decide(limits, nowMs, quietMs);
            assert.deepEqual(decision, model.decide(limits, nowMs, quietMs));
            await checkClaims(limiter, decision, nowMs);
          }
        }),
        { numRuns: effort.runs },
      );
    });

    test('a slot is free again at exactly t + window, and not before', async () => {
      const limiter = newLimiter();
      const limits = { perMinute: 2, burst: 1 };
      assert.equal((await send(limiter, limits, 0.5)).admitted, true);
      assert.equal((await send(await limiter.copy(), limits, 1000.5 - tickMs)).admitted, false);
      assert.equal((await send(limiter, limits, 1000.5)).admitted, true);
      assert.equal((await send(await limiter.copy(), limits, 60_000.5 - tickMs)).admitted, false);
      assert.equal((await send(limiter, limits, 60_000.5)).admitted, true);
    });

    test('a refusal charges neither window', async () => {
      const limiter = newLimiter();
      assert.equal((await send(limiter, sixty, 0, 20)).remaining, 40);
      assert.equal((await send(limiter, sixty, 0, 500)).admitted, false);
      assert.equal((await limiter.peek(sixty, 1000)).remaining, 40);
      assert.equal((await send(limiter, sixty, 1000)).remaining, 39);
    });

    test('a request that is not served gives its own slot back, and only once', async () => {
      const limiter = newLimiter();
      const limits = { perMinute: 3, burst: 3 };
      const [first, second] = [await send(limiter, limits, 0), await send(limiter, limits, 10_000)];
      await send(limiter, limits, 20_000);
      assert.equal((await limiter.giveBack(second, 21_000)).remaining, 1);
      assert.equal((await limiter.giveBack(second, 21_000)).remaining, 1, 'its charge is gone already');
      assert.equal((await send(limiter, limits, 22_000)).remaining, 0);
      assert.equal((await limiter.peek(limits, 60_000)).remaining, 1, 'the first ends when it would have');
      assert.equal((await limiter.giveBack(first, 61_000)).remaining, 1, 'one that no longer counts');
      assert.equal((await limiter.peek(limits, 80_000)).remaining, 2);
    });

    test('a block ends as much earlier as the slot is free, and keeps what early retries have added', async () => {
      const limiter = newLimiter();
      const limits = { perMinute: 2, burst: 2 };
      const [first] = [await send(limiter, limits, 0), await send(limiter, limits, 30_000)];
      assert.equal((await send(limiter, limits, 30_000)).retryAfterMs, 30_000);
      assert.equal((await send(limiter, limits, 30_250)).retryAfterMs, 30_750, 'an early retry');
      assert.equal((await limiter.giveBack(first, 31_000)).nextFreeMs, 1000);
      assert.equal((await send(limiter, limits, 32_000)).admitted, true);
    });

    test('when both windows are full, Retry-After covers both', async () => {
      const limiter = newLimiter();
      const limits = { perMinute: 3, burst: 2 };
      await send(limiter, limits, 0);
      await send(limiter, limits, 59_500, 2);
      const refused = await send(limiter, limits, 59_600);
      assert.deepEqual([refused.retryAfterMs, refused.refusedBy], [900, 'burst']);
      const early = await send(await limiter.copy(), limits, 60_000);
      assert.equal(early.admitted, false, 'the minute alone would have admitted it');
      assert.equal((await send(limiter, limits, 60_500)).admitted, true);
    });

    test('requests on their way at the first refusal do not lengthen the block, one after 250 ms does', async () => {
      const limiter = newLimiter();
      await send(limiter, sixty, 0, 20);
      assert.equal((await send(limiter, sixty, 100)).retryAfterMs, 900);
      assert.equal((await send(limiter, sixty, 200, 50)).retryAfterMs, 800);
      assert.equal((await send(limiter, sixty, 350 - tickMs, 50)).retryAfterMs, 651);
      assert.equal((await send(limiter, sixty, 350)).retryAfterMs, 1650);
      assert.equal((await send(limiter, sixty, 599, 50)).retryAfterMs, 1401, 'counted anew from the move');
    });

    test('the very next retry lengthens it: its connection was opened or answered after the block was opened', async () => {
      const limiter = newLimiter();
      await send(limiter, sixty, 0, 20);
      assert.equal((await send(limiter, sixty, 100)).retryAfterMs, 900);
      assert.equal(
        (await send(limiter, sixty, 110, 9, 10)).retryAfterMs,
        890,
        'informed as the block was opened, not after it',
      );
      assert.equal((await send(limiter, sixty, 110, 1, 10 - tickMs)).retryAfterMs, 1890);
      assert.equal((await send(limiter, sixty, 110, 50, 0)).retryAfterMs, 1890, 'once');
      assert.equal((await send(limiter, sixty, 360 - tickMs, 50, 0)).retryAfterMs, 1641, 'in 250 ms');
      assert.equal(
        (await send(limiter, sixty, 360, 50, 0)).retryAfterMs,
        1640,
        'the bound is one window after the end',
      );
    });

    test('requests that arrive together each have their own age', async () => {
      const limiter = newLimiter();
      await send(limiter, pro, 0, 600, onItsWay);
      const limits = { perMinute: 5, burst: 9 };
      await send(limiter, limits, 1000, 1);
      const together = async (ages: number[]) => {
        const decisions = await Promise.all(ages.map((quietMs) => limiter.decide(limits, 1010, quietMs)));
        return Math.max(...decisions.map(({ retryAfterMs }) => retryAfterMs));
      };
      assert.equal(await together([onItsWay, 20, 10, 11, onItsWay]), 58_990, 'none of these can know');
      assert.equal(await together([onItsWay, 20, 9, onItsWay]), 59_990, 'one of these can');
    });

    test('an early retry ends later, but at most one window after the natural end', async () => {
      for (const [limits, lengthMs] of [
        [{ perMinute: 5, burst: 9 }, 60_000],
        [{ perMinute: 60, burst: 5 }, 1_000],
      ] as const) {
        const limiter = newLimiter();
        await send(limiter, limits, 0, 5);
        let endMs = (await send(limiter, limits, 0)).retryAfterMs;
        const naturalMs = endMs;
        assert.equal(naturalMs, lengthMs);
        for (let nowMs = 250; nowMs < naturalMs + lengthMs; nowMs += 250) {
          const retry = await send(limiter, limits, nowMs);
          assert.equal(retry.admitted, false);
          const laterMs = nowMs + retry.retryAfterMs;
          assert.equal(laterMs, Math.min(endMs + 1000, naturalMs + lengthMs));
          endMs = laterMs;
        }
        assert.equal(endMs, naturalMs + lengthMs);
        assert.equal((await send(limiter, limits, endMs)).admitted, true);
      }
    });

    test('a caller that sees no Retry-After never extends a block, however often it comes back; others do', async () => {
      for (const [limits, lengthMs] of [
        [{ perMinute: 5, burst: 9 }, 60_000],
        [{ perMinute: 60, burst: 5 }, 1_000],
      ] as const) {
        const limiter = newLimiter();
        await send(limiter, limits, 0, 5, neverInformed);
        for (let nowMs = 0; nowMs < lengthMs; nowMs += lengthMs / 8) {
          const refused = await send(limiter, limits, nowMs, 3, neverInformed);
          assert.deepEqual([refused.admitted, refused.retryAfterMs], [false, lengthMs - nowMs]);
        }
        const informed = await send(await limiter.copy(), limits, (lengthMs * 7) / 8, 1, 0);
        assert.equal(informed.retryAfterMs, lengthMs / 8 + 1000);
        assert.equal((await send(limiter, limits, lengthMs, 1, neverInformed)).admitted, true);
      }
    });

    test('a tie is the minute’s', async () => {
      const limiter = newLimiter();
      const limits = { perMinute: 2, burst: 1 };
      await send(limiter, limits, 0);
      await send(limiter, limits, 59_000);
      const refused = await send(limiter, limits, 59_500);
      assert.deepEqual([refused.refusedBy, refused.retryAfterMs], ['minute', 500]);
    });

    test('a plan change ends a block and decides afresh from the same history', async () => {
      const limiter = newLimiter();
      for (let second = 0; second < 3; second++) await send(limiter, sixty, second * 1000, 20);
      assert.equal((await send(limiter, sixty, 3000)).refusedBy, 'minute');
      const upgraded = await send(limiter, pro, 3000);
      assert.deepEqual([upgraded.admitted, upgraded.remaining], [true, 600 - 61]);
      assert.equal((await send(limiter, pro, 3000, 139)).remaining, 400);

      const downgraded = await send(limiter, sixty, 3100);
      assert.deepEqual([downgraded.admitted, downgraded.remaining], [false, 0]);
      assert.equal(downgraded.retryAfterMs, 59_900, 'when fewer than 60 of the 200 count');
      const again = await send(await limiter.copy(), pro, 3200);
      assert.equal(again.remaining, 600 - 201, 'and up again: nothing was forgotten');
      assert.equal((await limiter.peek(sixty, 62_999)).remaining, 0);
      assert.equal((await send(limiter, sixty, 63_000)).remaining, 59);
    });

    test('equal limits in another object are no plan change', async () => {
      const limiter = newLimiter();
      await send(limiter, sixty, 0, 21);
      assert.equal((await send(limiter, { ...sixty }, 500)).retryAfterMs, 1500);
    });

    test('peek charges nothing and punishes nothing', async () => {
      const limiter = newLimiter();
      const whole = { limits: sixty, remaining: 60, resetMs: 0, nextFreeMs: 0, retryAfterMs: 0, refusedBy: undefined };
      assert.deepEqual(await limiter.peek(sixty, 0), { admitted: true, ...whole, chargedAtMs: undefined });
      await send(limiter, sixty, 0, 21);
      const blocked = await limiter.peek(sixty, 0);
      assert.deepEqual(
        [blocked.admitted, blocked.remaining, blocked.nextFreeMs, blocked.resetMs],
        [false, 0, 1000, 60_000],
      );
      for (let nowMs = 0; nowMs < 1000; nowMs += 50) assert.equal((await limiter.peek(sixty, nowMs)).admitted, false);
      assert.equal((await limiter.peek({ perMinute: 60, burst: 30 }, 999)).remaining, 40, 'a plan change ends a block');
      assert.equal((await limiter.peek(sixty, 1000)).remaining, 40);
    });

    test('a clock that goes back locks no caller out and forgets nothing', async () => {
      for (const stepMs of [1, 5000, 3_600_000]) {
        const limiter = newLimiter();
        const startMs = 10_000_000;
        await send(limiter, sixty, startMs, 20);
        await send(limiter, sixty, startMs + 10_000, 20);
        assert.equal((await send(limiter, sixty, startMs + 10_000)).retryAfterMs, 1000);
        const nowMs = startMs + 10_000 - stepMs;
        const back = await send(limiter, sixty, nowMs);
        assert.equal(back.retryAfterMs, 1000, 'the block ends as soon as it would have');
        assert.equal((await send(limiter, sixty, nowMs + 1000)).remaining, 19);
        const later = await limiter.peek(sixty, nowMs + 50_000);
        assert.equal(later.remaining, 60 - 21, 'and the history runs out as it would have');
        assert.equal((await limiter.peek(sixty, nowMs + 61_000)).remaining, 60);
      }
    });
  });
}
