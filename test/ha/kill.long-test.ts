// run: alone
// Patroni and its Postgres die together, again and again, under load on two nodes: nothing answered is lost.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HaWorld, isElsewhere, measure, p95, report, startHaWorld } from '../support/ha-world.ts';

const turns = Number(process.env.HELIOGRAPH_DRILLS ?? 20);
let world: HaWorld;
before(async () => {
  world = await startHaWorld();
});
after(() => world.close());

test(`${turns} failovers by kill -9 of Patroni and its Postgres`, async () => {
  const { postgres } = world;
  for (let turn = 0; turn < turns; turn++) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await measure(world, async () => postgres.kill(primary), isElsewhere(world, primary));
    postgres.restart(primary);
  }
  report('kill -9 of Patroni and Postgres', world);
  await world.assertKept();
  assert.ok(p95(world.beyondMs) < 3000, `writes were answered ${p95(world.beyondMs)} ms after the new primary`);
});
