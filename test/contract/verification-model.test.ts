import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { KeyRing } from '../../src/platform/crypto/keys.ts';
import { derivedCode } from '../../src/verify/code.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
let keys: KeyRing;
before(async () => {
  app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_TOKEN_SECONDS: '86400' } });
  acme = await createVerifyCaller(app);
  await watchStates(app.db.database);
  await listen(app.db.database);
  keys = await openTestKeyRing(app.db.database, app.clock);
});
after(() => checkEvents(app.db.database).finally(() => app.close()));

type Command =
  | { do: 'start'; length: 6 | 8 }
  | { do: 'check'; code: 'right' | 'wrong' | 'other length'; which: number }
  | { do: 'cancel'; which: number }
  | { do: 'read'; which: number }
  | { do: 'wait'; ms: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('start' as const), length: fc.constantFrom(6 as const, 8 as const) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('check' as const),
      code: fc.constantFrom('right' as const, 'wrong' as const, 'other length' as const),
      which: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const), which: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 1999, 2000, 60_000, 600_000) }),
  },
);

/** A verification as a person would keep it on paper. */
interface Model {
  id: string;
  length: number;
  status: string;
  tries: number;
  sends: number;
  sentAtMs: number;
  endsAtMs: number;
}

test('the state machine agrees with one kept on paper, whatever is done in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), async (commands) => {
      const to = acme.newNumber();
      const all: Model[] = [];
      let wrongToday = 0;
      const lapse = () => {
        for (const each of all) {
          if (each.status === 'pending' && each.endsAtMs <= app.clock.nowMs()) each.status = 'expired';
        }
      };
      const pick = (which: number) => all[all.length - 1 - (which % Math.max(1, all.length))];

      for (const step of commands) {
        lapse();
        const nowMs = app.clock.nowMs();
        if (step.do === 'wait') {
          app.clock.advance(step.ms);
        } else if (step.do === 'start') {
          const { body } = await acme.start({ to, code_length: step.length });
          const open = all.find(({ status }) => status === 'pending');
          if (open !== undefined && open.length === step.length) {
            const again = nowMs >= open.sentAtMs + 2000 && open.sends < 5;
            if (again) {
              open.sends++;
              open.sentAtMs = nowMs;
            }
            assert.deepEqual([body.id, body.sends, body.attempts_remaining], [open.id, open.sends, open.tries]);
            assert.equal(body.sent, again);
          } else {
            const left = open?.tries ?? 5;
            if (open !== undefined) open.status = 'canceled';
            const tries = Math.max(0, Math.min(5, 15 - wrongToday, left));
            const status = wrongToday >= 15 ? 'blocked' : 'pending';
            all.push({
              id: body.id,
              length: step.length,
              status,
              tries,
              sends: 1,
              sentAtMs: nowMs,
              endsAtMs: nowMs + 600_000,
            });
            assert.deepEqual([body.status, body.attempts_remaining], [status, tries]);
            assert.equal(body.sent, status === 'pending');
          }
        } else {
          const target = pick(step.which);
          if (target === undefined) continue;
          if (step.do === 'read') {
            assert.equal((await acme.read(target.id)).body.status, target.status);
          } else if (step.do === 'cancel') {
            const { status } = await acme.send('DELETE', `/verify/v1/verifications/${target.id}`);
            assert.equal(status, target.status === 'pending' ? 200 : 409);
            if (target.status === 'pending') target.status = 'canceled';
          } else {
            const code = derivedCode(keys, target.id, keys.version, target.length);
            const right = step.code === 'right';
            const otherLength = derivedCode(keys, target.id, keys.version, target.length - 1);
            const wrong = String((Number(code[0]) + 1) % 10) + code.slice(1);
            const given = right ? code : step.code === 'wrong' ? wrong : otherLength;
            const { status, body } = await acme.check(target.id, given);
            if (target.status === 'approved') {
              assert.equal(status, 409);
              continue;
            }
            if (target.status === 'pending' && right) target.status = 'approved';
            else if (target.status === 'pending') {
              target.tries--;
              wrongToday++;
              if (target.tries === 0) target.status = 'failed';
            }
            assert.deepEqual([status, body.status, body.valid], [200, target.status, target.status === 'approved']);
          }
        }
      }
      lapse();
      for (const each of all) assert.equal((await acme.read(each.id)).body.status, each.status);
      // Waiting adds up over the runs: a day would end the token.
      acme = await createVerifyCaller(app, acme);
    }),
    { numRuns: 40 },
  );
});
