// The goals of the pumping laboratory in short: one seed of those that judge, shorter attacks, the small application.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attacks } from '../../bench/pumping/attacks.ts';
import { judgingSeeds, tryAttack, tryHonest, tryThroughHook, tuningSeeds } from '../../bench/pumping/goals.ts';
import { honestTraffic } from '../../bench/pumping/honest.ts';
import { failures } from '../../bench/pumping/report.ts';
import { small, tenants } from '../../bench/pumping/tenants.ts';
import { loadPhoneNumbers } from '../../src/messages/numbers/phone-number.ts';
import { inShort } from '../support/effort.ts';

await loadPhoneNumbers();

const seeds = judgingSeeds.slice(0, inShort(1, 3));
const longestHours = inShort(16, 48);

test('constants are judged on other seeds than those that chose them', () => {
  assert.equal(judgingSeeds.length, 20);
  assert.deepEqual(
    judgingSeeds.filter((seed) => tuningSeeds.includes(seed)),
    [],
  );
});

for (const attack of attacks.filter(({ isTellable }) => isTellable)) {
  test(`${attack.name}: 95 % is stopped after 500 texts, and fewer than 5 % of the new users are refused`, async () => {
    // A slow one needs its time.
    const hours = attack.perHour < 100 ? attack.hours : Math.min(attack.hours, longestHours);
    for (const tenant of inShort([small], tenants)) {
      const result = await tryAttack({ ...attack, hours }, tenant, seeds);
      assert.deepEqual(failures([result], []), []);
    }
  });
}

test('through a hook that reports nothing, the counting rules bound each attack, and refuse no other starts', async () => {
  for (const attack of attacks) {
    const hours = Math.min(attack.hours, inShort(2, 48));
    const through = await tryThroughHook({ ...attack, hours }, small, seeds);
    assert.ok(through.mostOfPrefix <= 50 && through.mostOfNumber <= 10, `${attack.name}: ${JSON.stringify(through)}`);
    assert.equal(through.refused, 0, attack.name);
    if (attack.name === 'one prefix') assert.ok(through.sent <= 50 * hours, `${through.sent} texts`);
  }
});

for (const traffic of honestTraffic) {
  test(`honest, ${traffic.name}: fewer than 1 in 1,000 starts are refused`, async () => {
    const ofSmall = (seed: number) => traffic.scenarios(seed).filter(({ tenant }) => tenant.perDay === small.perDay);
    const shown = inShort({ ...traffic, scenarios: ofSmall }, traffic);
    assert.deepEqual(failures([], [await tryHonest(shown, seeds)]), []);
  });
}
