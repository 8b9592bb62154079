import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSlots } from './webhook-slots.ts';

test('failing endpoints take half of the slots at most, and those that wait are told', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 100 }), (steps) => {
      const slots = createSlots(6);
      const taken = { true: 0, false: 0 };
      let told = 0;
      let refused = 0;
      for (const [takes, failing] of steps) {
        const key = failing ? 'true' : 'false';
        if (takes) {
          const fits = taken.true + taken.false < 6 && (!failing || taken.true < 3);
          assert.equal(
            slots.take(failing, () => told++),
            fits,
          );
          if (fits) taken[key]++;
          else refused++;
        } else if (taken[key] > 0) {
          taken[key]--;
          slots.free(failing);
          assert.equal(told, refused);
        }
      }
    }),
  );
});
