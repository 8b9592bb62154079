import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assumed, fitsOn, type Measured, planFor } from './plan.ts';

/** Round numbers, so that the sums can be checked by hand. */
const measured: Measured = {
  accept: { node: 100, postgres: 50 },
  deliver: { node: 100, postgres: 100 },
  start: { node: 200, postgres: 150 },
  check: { node: 200, postgres: 100 },
  token: { node: 300, postgres: 0 },
  read: { node: 100, postgres: 20 },
  list: { node: 500, postgres: 400 },
  commitMs: 2,
  textBytes: 2000,
  codeBytes: 3000,
  textWalBytes: 4000,
  codeWalBytes: 5000,
};

describe('a plan', () => {
  test('for 1,000 texts a second is the sum of what each costs', () => {
    const plan = planFor(measured, { textsPerSecond: 1000, codesPerSecond: 0, carrierRate: 50 });
    // 1,000 × 100 µs accepted, 500 × 100 µs read, 10 × 500 µs listed: 0.155 of a core.
    assert.equal(plan.webProcesses, 1);
    assert.ok(Math.abs(plan.nodeCores - (0.155 + 0.1) / 0.6) < 1e-9, `${plan.nodeCores} cores`);
    // 0.05 + 0.01 + 0.004 + 0.1.
    assert.ok(Math.abs(plan.postgresCores - 0.164 / 0.6) < 1e-9, `${plan.postgresCores} cores`);
    assert.equal(plan.redisCores, 0);
    assert.equal(plan.connections, 35);
    assert.equal(plan.binds, 20);
    assert.equal(plan.diskBytesPerDay, (1000 * 2000 * 86_400) / 3);
    assert.equal(plan.walBytesPerSecond, 4e6);
    assert.equal(plan.cells, 1);
  });

  test('counts codes with their checks, and the text that each one is', () => {
    const without = planFor(measured, { textsPerSecond: 100, codesPerSecond: 0, carrierRate: 10 });
    const plan = planFor(measured, { textsPerSecond: 100, codesPerSecond: 100, carrierRate: 10 });
    // 100 starts of 200 µs, 120 checks of 200, one token of 300, 100 deliveries of 100.
    const more = (0.02 + 0.024 + 0.0003 + 0.01) / 0.6;
    assert.ok(Math.abs(plan.nodeCores - without.nodeCores - more) < 1e-9, `${plan.nodeCores} cores`);
    assert.equal(plan.binds, 20);
  });

  test('beyond one delivery thread there are several nodes, which share a Redis', () => {
    const plan = planFor(measured, { textsPerSecond: 20_000, codesPerSecond: 0, carrierRate: 100 });
    assert.equal(plan.deliveryThreads, Math.ceil(2 / 0.6));
    assert.equal(plan.webProcesses, Math.ceil(3.1 / 0.6));
    // 20,000 texts, 10,000 reads and 200 lists of 25 µs.
    assert.ok(Math.abs(plan.redisCores - 0.755 / 0.6) < 1e-9, `${plan.redisCores} cores`);
    assert.equal(plan.connections, 4 * 35);
  });

  test('divides into cells when one Postgres is not enough, by its cores or by its log', () => {
    const plan = planFor(measured, { textsPerSecond: 50_000, codesPerSecond: 0, carrierRate: 100 });
    assert.ok(plan.postgresCores < assumed.postgresCores, `${plan.postgresCores} cores`);
    assert.equal(plan.cells, Math.ceil((50_000 * 4000) / assumed.postgresWalBytes));
    const heavy = { ...measured, textWalBytes: 0, deliver: { node: 1, postgres: 1000 } };
    assert.equal(planFor(heavy, { textsPerSecond: 50_000, codesPerSecond: 0, carrierRate: 100 }).cells, 3);
  });

  test('shows every number of the table in its steps', () => {
    const { steps } = planFor(measured, { textsPerSecond: 5000, codesPerSecond: 500, carrierRate: 50 });
    const text = steps.map(({ what, arithmetic }) => `${what}: ${arithmetic}`).join('\n');
    for (const expected of [
      '5,000 texts accepted a second: Node × 100 µs = 0.50; Postgres × 50 µs = 0.25',
      '5,500 texts and codes delivered a second: Node × 100 µs = 0.55',
      'Delivery threads, one a node: 0.55 ÷ 0.6 = 0.92, so 1',
      'Binds: (5,000 texts + 500 codes) ÷ 50 a second = 110',
      'Connections to Postgres: nodes: 1 × 35 = 35',
    ]) {
      assert.ok(text.includes(expected), `"${expected}" is not in\n${text}`);
    }
  });

  test('a larger load never needs less', () => {
    let before = planFor(measured, { textsPerSecond: 1, codesPerSecond: 0, carrierRate: 10 });
    for (const textsPerSecond of [10, 100, 1000, 10_000, 100_000]) {
      const plan = planFor(measured, { textsPerSecond, codesPerSecond: textsPerSecond / 10, carrierRate: 10 });
      for (const name of ['webProcesses', 'nodeCores', 'postgresCores', 'connections', 'binds', 'cells'] as const) {
        assert.ok(plan[name] >= before[name], `${name} of ${textsPerSecond}`);
      }
      before = plan;
    }
  });
});

test('a machine is full at the largest load that fits', () => {
  for (const cores of [2, 16, 64]) {
    const { load, nodeCores, postgresCores, redisCores } = fitsOn(measured, cores, 50);
    assert.ok(
      nodeCores + postgresCores + redisCores <= cores,
      `${load.textsPerSecond} texts a second on ${cores} cores`,
    );
    const next = planFor(measured, {
      textsPerSecond: load.textsPerSecond + 1,
      codesPerSecond: (load.textsPerSecond + 1) / 10,
      carrierRate: 50,
    });
    assert.ok(next.nodeCores + next.postgresCores + next.redisCores > cores, 'one more text a second does not fit');
  }
});
