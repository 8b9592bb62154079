// run: alone
// Planned switch-overs, and the loss of etcd's majority, under load on two nodes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createDrill, turnsOf } from '../support/ha-drill.ts';
import { assertKept } from '../support/ha-ledger.ts';
import { type HaWorld, startHaWorld } from '../support/ha-world.ts';

let world: HaWorld;
before(async () => {
  world = await startHaWorld('hosts');
});
after(() => world?.close());

test('planned switch-overs', async () => {
  const { postgres } = world;
  const drill = createDrill(world);
  for (const _ of turnsOf(10)) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      () => postgres.switchOver(primary),
      (member) => member !== primary,
    );
  }
  drill.end('planned switch-overs');
});

test('losses of the majority of etcd', async () => {
  const { postgres } = world;
  const drill = createDrill(world);
  const [, second = assert.fail(), third = assert.fail()] = postgres.members;
  for (const _ of turnsOf(5)) {
    const lose = async () => {
      await Promise.all([postgres.killEtcd(second), postgres.killEtcd(third)]);
      // Patroni stops the primary, because it cannot know whether there is another.
      for (let waits = 0; waits < 400 && (await postgres.primary()) !== undefined; waits++) await pause(100);
      postgres.startEtcd(second);
      postgres.startEtcd(third);
    };
    await drill.measure(lose, () => true);
  }
  await assertKept(world);
  drill.end("losses of etcd's majority");
});
