// run: alone
// A primary that stops and wakes up later, planned switch-overs, and the loss of etcd's majority, under load on two nodes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type HaWorld, isElsewhere, measure, p95, report, startHaWorld } from '../support/ha-world.ts';

const turns = (full: number) => Number(process.env.HELIOGRAPH_DRILLS ?? full);
let world: HaWorld;
before(async () => {
  world = await startHaWorld();
});
after(() => world.close());

function begin(): void {
  world.beyondMs = [];
  world.patroniMs = [];
}

test('planned switch-overs', async () => {
  begin();
  const { postgres } = world;
  for (let turn = 0; turn < turns(10); turn++) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await measure(world, () => postgres.switchOver(primary), isElsewhere(world, primary));
  }
  report('planned switch-overs', world);
  assert.ok(p95(world.beyondMs) < 3000, `writes were answered ${p95(world.beyondMs)} ms after the new primary`);
});

test('failovers by SIGSTOP of Patroni and its Postgres: the old primary wakes up later', async () => {
  begin();
  const { postgres } = world;
  for (let turn = 0; turn < turns(10); turn++) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await measure(world, async () => postgres.freeze(primary), isElsewhere(world, primary));
    // The new primary works for a moment before the old one wakes up and answers reads.
    await pause(2000);
    postgres.thaw(primary);
  }
  report('SIGSTOP of Patroni and Postgres', world);
  assert.ok(p95(world.beyondMs) < 3000, `writes were answered ${p95(world.beyondMs)} ms after the new primary`);
});

test('losses of the majority of etcd', async () => {
  begin();
  const { postgres } = world;
  const [, second, third] = postgres.members;
  assert.ok(second && third);
  for (let turn = 0; turn < turns(5); turn++) {
    await postgres.whole();
    const lose = async () => {
      await Promise.all([postgres.killEtcd(second), postgres.killEtcd(third)]);
      // Patroni stops the primary, because it cannot know whether there is another.
      const isGone = async () => (await postgres.primary()) === undefined;
      for (let waited = 0; waited < 400 && !(await isGone()); waited++) await pause(100);
      postgres.startEtcd(second);
      postgres.startEtcd(third);
    };
    await measure(world, lose, async () => (await postgres.primary()) !== undefined);
  }
  report("losses of etcd's majority", world);
  await world.assertKept();
  assert.ok(p95(world.beyondMs) < 3000, `writes were answered ${p95(world.beyondMs)} ms after the primary was back`);
});
