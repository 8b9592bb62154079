// run: alone
// Patroni and its Postgres die together, again and again, under load on two nodes: nothing answered is lost.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDrill, turnsOf } from '../support/ha-drill.ts';
import { assertKept } from '../support/ha-ledger.ts';
import { type HaWorld, startHaWorld } from '../support/ha-world.ts';

const turns = turnsOf(20);
let world: HaWorld;
before(async () => {
  world = await startHaWorld('hosts');
});
after(() => world?.close());

test(`${turns.length} failovers by kill -9 of Patroni and its Postgres`, async () => {
  const { postgres } = world;
  const drill = createDrill(world);
  for (const _ of turns) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      async () => postgres.kill(primary),
      (member) => member !== primary,
    );
    postgres.restart(primary);
  }
  await assertKept(world);
  drill.end('kill -9 of Patroni and Postgres');
});
