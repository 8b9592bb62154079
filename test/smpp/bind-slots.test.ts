import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BindSlots, createBindSlots, type WantedSlots } from '../../src/delivery/carrier/slots.ts';
import type { Database, Session } from '../../src/platform/database/database.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase({ empty: true });
});
after(() => db.drop());

interface Node {
  slots: BindSlots;
  clock: TestClock;
  want(carrierId: number, binds: number): { wanted: WantedSlots; taken: number[]; lost: number[]; freed: boolean[] };
}

/** The slots of a node of its own: other locks, another connection. */
function startNode(): Node {
  const clock = createTestClock();
  const slots = createBindSlots({ database: db.another(), clock, log: createTestLog().log });
  return {
    slots,
    clock,
    want(carrierId, binds) {
      const [taken, lost]: [number[], number[]] = [[], []];
      const freed: boolean[] = [];
      const onTaken = (slot: number, wasJustFreed: boolean) => {
        taken.push(slot);
        freed.push(wasJustFreed);
      };
      const onLost = (slot: number) => void lost.push(slot);
      return { wanted: slots.want({ carrierId, binds, onTaken, onLost }), taken, lost, freed };
    },
  };
}

/** Ends the connections that hold bind slots, as a restart of Postgres would. */
const endSessions = () =>
  db.database.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and objsubid = 2 and database = (select oid from pg_database where datname = current_database())`,
  );

describe('bind slots', () => {
  test('one node takes all slots at once', async () => {
    const node = startNode();
    const { wanted, taken } = node.want(1, 8);
    await node.slots.poll();
    assert.deepEqual(taken, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.equal(wanted.nodes, 1);
    await node.slots.stop();
  });

  test('a hundred carriers that start together cost a few statements each', async () => {
    let statements = 0;
    const database = db.another();
    const openSession: Database['openSession'] = async (onLost) => {
      const session = await database.openSession(onLost);
      const query: Session['query'] = (statement, values) => {
        statements++;
        return session.query(statement, values);
      };
      return { ...session, query };
    };
    const slots = createBindSlots({
      database: { ...database, openSession },
      clock: createTestClock(),
      log: createTestLog().log,
    });
    const wants = Array.from({ length: 100 }, (_, place) =>
      slots.want({ carrierId: 1000 + place, binds: 1, onTaken: () => {}, onLost: () => {} }),
    );
    await slots.poll();
    assert.ok(wants.every(({ held }) => held.size === 1));
    assert.ok(statements <= 1 + 5 * wants.length, `${statements} statements`);
    await slots.stop();
  });

  test('over all nodes a slot is held once; carriers do not disturb one another', async () => {
    const nodes = [startNode(), startNode(), startNode()];
    const wants = nodes.flatMap((node) => [node.want(2, 3), node.want(3, 2)]);
    for (let round = 0; round < 3; round++) {
      for (const node of nodes) node.clock.advance(4000);
      await Promise.all(nodes.map(({ slots }) => slots.poll()));
    }
    assert.deepEqual(wants.flatMap(({ taken }, place) => (place % 2 === 0 ? taken : [])).toSorted(), [1, 2, 3]);
    assert.deepEqual(wants.flatMap(({ taken }, place) => (place % 2 === 1 ? taken : [])).toSorted(), [1, 2]);
    await Promise.all(nodes.map(({ slots }) => slots.stop()));
  });

  test('a node takes its share at once, and more only later', async () => {
    const [one, two] = [startNode(), startNode()];
    // The second is known to the first before either has a slot.
    const blocked = two.want(4, 0);
    await two.slots.poll();
    const first = one.want(4, 4);
    await one.slots.poll();
    assert.equal(first.taken.length, 2);
    assert.equal(first.wanted.nodes, 2);
    await one.slots.poll();
    assert.equal(first.taken.length, 2);
    one.clock.advance(4000);
    await one.slots.poll();
    assert.equal(first.taken.length, 3);
    await blocked.wanted.stop();
    await one.slots.poll();
    assert.equal(first.taken.length, 4, 'alone its share is all');
    await Promise.all([one.slots.stop(), two.slots.stop()]);
  });

  test('slots that a node gives up are free for another', async () => {
    const [one, two] = [startNode(), startNode()];
    const first = one.want(5, 2);
    await one.slots.poll();
    const second = two.want(5, 2);
    await two.slots.poll();
    assert.deepEqual([first.taken, second.taken], [[1, 2], []]);
    await first.wanted.stop();
    assert.equal(first.wanted.held.size, 0);
    await two.slots.poll();
    assert.deepEqual(second.taken, [1, 2]);
    await Promise.all([one.slots.stop(), two.slots.stop()]);
  });

  test('a node that ends leaves its slots to another', async () => {
    const [one, two] = [startNode(), startNode()];
    one.want(6, 1);
    await one.slots.poll();
    const standby = two.want(6, 1);
    await two.slots.poll();
    assert.deepEqual(standby.taken, []);
    await one.slots.stop();
    await eventually('the slot is taken over', async () => {
      await two.slots.poll();
      return standby.taken.length === 1;
    });
    await two.slots.stop();
  });

  test('two versions of a carrier on one node never hold the same slot', async () => {
    const node = startNode();
    const old = node.want(7, 2);
    await node.slots.poll();
    const next = node.want(7, 2);
    node.clock.advance(4000);
    await node.slots.poll();
    assert.deepEqual([old.taken, next.taken], [[1, 2], []]);
    await old.wanted.stop();
    await node.slots.poll();
    assert.deepEqual(next.taken, [1, 2]);
    await node.slots.stop();
  });

  test('a node that takes a slot learns whether it was held a moment ago, here or on another node', async () => {
    const [one, two] = [startNode(), startNode()];
    const first = one.want(9, 1);
    await one.slots.poll();
    const standby = two.want(9, 1);
    await two.slots.poll();
    await first.wanted.stop();
    await two.slots.poll();
    assert.deepEqual([first.freed, standby.freed], [[false], [true]]);
    await standby.wanted.stop();
    const again = two.want(9, 1);
    await two.slots.poll();
    await again.wanted.stop();
    two.clock.advance(10_000);
    const later = two.want(9, 1);
    await two.slots.poll();
    assert.deepEqual([again.freed, later.freed], [[true], [false]]);
    await Promise.all([one.slots.stop(), two.slots.stop()]);
  });

  test('more or fewer binds: the other slots stay, and a released one is free for another node', async () => {
    const [one, two] = [startNode(), startNode()];
    const { wanted, taken } = one.want(10, 2);
    await one.slots.poll();
    wanted.setBinds(3);
    await one.slots.poll();
    assert.deepEqual(taken, [1, 2, 3]);
    wanted.setBinds(2);
    await one.slots.poll();
    assert.deepEqual([...wanted.held], [1, 2, 3], 'it is held until its bind has ended');
    await wanted.release(3);
    await wanted.release(3);
    assert.deepEqual([...wanted.held], [1, 2]);
    const other = two.want(10, 3);
    await two.slots.poll();
    assert.deepEqual(other.taken, [3]);
    await Promise.all([one.slots.stop(), two.slots.stop()]);
  });

  test('a broken connection loses every slot at once, and the node takes what is free again', async () => {
    const node = startNode();
    const { wanted, taken, lost } = node.want(8, 2);
    await node.slots.poll();
    await endSessions();
    await eventually('the slots are lost', () => lost.length === 2);
    assert.equal(wanted.held.size, 0);
    await node.slots.poll();
    assert.equal(taken.length, 2, 'the binds of the lost slots have time to end');
    node.clock.advance(6000);
    await eventually('the slots are taken again', async () => {
      await node.slots.poll();
      return taken.length === 4;
    });
    await node.slots.stop();
  });
});
