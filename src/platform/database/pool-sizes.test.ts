import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionsNeeded, webPools } from './pool-sizes.ts';

test('one process has what it always had, and more processes share about twice that', () => {
  assert.deepEqual(webPools(1), { apis: 10, side: 6 });
  assert.deepEqual(webPools(2), { apis: 10, side: 6 });
  assert.deepEqual(webPools(4), { apis: 5, side: 4 });
  assert.deepEqual(webPools(64), { apis: 4, side: 4 });
});

test('an embedded Postgres has room for all of them', () => {
  assert.equal(connectionsNeeded(1), 400);
  for (let processes = 2; processes <= 64; processes++) {
    const { apis, side } = webPools(processes);
    // Statements that are planned once have up to four connections beside each pool, and each process has two listeners.
    const used = processes * (apis + Math.min(apis, 4) + side + Math.min(side, 4) + 2);
    assert.ok(used + 60 <= connectionsNeeded(processes), `${processes} processes open ${used}`);
  }
});
