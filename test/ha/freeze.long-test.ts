// run: alone
// Patroni and its Postgres stop, and wake up later with a primary that is old, under load on two nodes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDrill, turnsOf } from '../support/ha-drill.ts';
import { assertKept } from '../support/ha-ledger.ts';
import { type HaWorld, startHaWorld } from '../support/ha-world.ts';

let world: HaWorld;
before(async () => {
  world = await startHaWorld('hosts');
});
after(() => world?.close());

test('failovers by SIGSTOP of Patroni and its Postgres: the old primary wakes up later', async () => {
  const { postgres } = world;
  const drill = createDrill(world);
  for (const _ of turnsOf(10)) {
    await postgres.whole();
    const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      async () => postgres.freeze(primary),
      (member) => member !== primary,
    );
    // The old one answers reads until its Patroni finds out.
    postgres.thaw(primary);
  }
  await assertKept(world);
  drill.end('SIGSTOP of Patroni and Postgres');
});
