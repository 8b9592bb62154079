// run: alone
// One address for the primary: HAProxy with Patroni's check. Nodes trust it by the same rules as several hosts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDrill, turnsOf } from '../support/ha-drill.ts';
import { assertKept } from '../support/ha-ledger.ts';
import { type HaWorld, startHaWorld } from '../support/ha-world.ts';

let world: HaWorld;
before(async () => {
  world = await startHaWorld('haproxy');
});
after(() => world?.close());

test('kill -9, SIGSTOP and planned switch-overs behind HAProxy', async () => {
  const { postgres } = world;
  const drill = createDrill(world);
  for (const _ of turnsOf(3)) {
    const killed = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      async () => postgres.kill(killed),
      (member) => member !== killed,
    );
    postgres.restart(killed);
    await postgres.whole();
    const moved = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      () => postgres.switchOver(moved),
      (member) => member !== moved,
    );
    const frozen = (await postgres.primary()) ?? assert.fail('there is no primary');
    await drill.measure(
      async () => postgres.freeze(frozen),
      (member) => member !== frozen,
    );
    postgres.thaw(frozen);
  }
  await assertKept(world);
  drill.end('behind HAProxy: kill -9, planned switch-overs, SIGSTOP in turn');
});
