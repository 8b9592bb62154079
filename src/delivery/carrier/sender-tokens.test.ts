import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextTokenMs, type SenderTokens, takeTokens } from './sender-tokens.ts';

const stepsArbitrary = fc.array(fc.record({ afterMs: fc.nat(5000), first: fc.nat(30), bulk: fc.nat(30) }), {
  minLength: 1,
  maxLength: 40,
});

function run(perSecond: number, steps: { afterMs: number; first: number; bulk: number }[]) {
  let tokens: SenderTokens = { tokens: perSecond, countedAtMs: 0 };
  let nowMs = 0;
  return steps.map(({ afterMs, first, bulk }) => {
    nowMs += afterMs;
    const taken = takeTokens(tokens, { perSecond, nowMs, first, bulk });
    tokens = taken.after;
    return { nowMs, wanted: { first, bulk }, ...taken };
  });
}

test('property: in no stretch of time do more leave than the rate, one second’s worth, and what codes may borrow', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), stepsArbitrary, (perSecond, steps) => {
      const taken = run(perSecond, steps);
      for (const [from, begin] of taken.entries()) {
        let [all, bulk] = [0, 0];
        for (const each of taken.slice(from)) {
          all += each.first + each.bulk;
          bulk += each.bulk;
          const allowed = ((each.nowMs - begin.nowMs) * perSecond) / 1000 + perSecond;
          assert.ok(all <= allowed + perSecond + 1e-6, `${all} of ${allowed} and as many borrowed`);
          assert.ok(bulk <= allowed + 1e-6, `${bulk} bulk texts of ${allowed}`);
        }
      }
    }),
  );
});

test('property: what may leave leaves; bulk takes nothing that codes want; the next token comes when it is said to', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), stepsArbitrary, (perSecond, steps) => {
      for (const { wanted, first, bulk, after, nowMs } of run(perSecond, steps)) {
        assert.ok(
          first === wanted.first || after.tokens < 1 - perSecond + 1e-6,
          'codes wait only when all is borrowed',
        );
        assert.ok(bulk === wanted.bulk || after.tokens < 1, 'bulk waits only without a token');
        if (first < wanted.first) assert.equal(bulk, 0);
        const dueMs = nextTokenMs(after, perSecond);
        assert.ok(dueMs >= nowMs, 'not in the past');
        const next = takeTokens(after, { perSecond, nowMs: dueMs, first: 0, bulk: 1 });
        assert.equal(next.bulk, 1);
      }
    }),
  );
});

test('a clock that goes back neither gives nor takes tokens', () => {
  const taken = takeTokens({ tokens: 1, countedAtMs: 5000 }, { perSecond: 2, nowMs: 1000, first: 0, bulk: 5 });
  assert.deepEqual(taken, { after: { tokens: 0, countedAtMs: 5000 }, first: 0, bulk: 1 });
});
