import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database, Tx } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import type { SubmitFields } from '../../src/smpp/pdu.ts';
import type { Settle } from '../../src/smpp-server/awaited.ts';
import { newBind } from '../../src/smpp-server/bind.ts';
import { createDeliveries } from '../../src/smpp-server/deliveries.ts';
import { insertTest, releaseDeliveries } from '../../src/smpp-server/delivery-store.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';

const clock = createTestClock();
let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

const account = {
  ...{ id: newId('smp', clock), applicationId: newId('app', clock), systemId: 'hg', binds: 2, addresses: [] },
  createdAtMs: 0,
};
const owner = { accountId: account.id, applicationId: account.applicationId };
const store = (tx: Tx) => insertTest(tx, owner, newId('tst', clock), clock.nowMs());

/** Its own receivers, and the names of the statements of its polls. */
function startDeliveries() {
  const polls: string[] = [];
  const query: Database['query'] = (statement, values) => {
    if (typeof statement !== 'string') polls.push(statement.name ?? '');
    return db.database.query(statement, values);
  };
  const deliveries = createDeliveries({
    ...{ database: { ...db.database, query }, clock, log: createTestLog().log, pollMs: 1 },
    findMessages: async () => [],
    findInbound: async () => [],
  });
  const delivered: { fields: SubmitFields; settle: Settle }[] = [];
  const facts = { account, mode: 'receiver', address: '', tls: false, boundAtMs: 0, key: '' } as const;
  const bind = newBind({ ...facts, id: newId('bnd', clock) });
  deliveries.add(bind, {
    ...{ address: '', tls: false, isBound: true, room: 10, tick() {}, cut() {}, end: async () => {} },
    deliver: (fields, settle) => void delivered.push({ fields, settle }),
  });
  /** The last polls asked only whether there is something new. */
  const idle = () =>
    eventually('the polls only ask', () => {
      const last = polls.slice(-5);
      return last.length === 5 && last.every((name) => name === 'read-newest-smpp-delivery');
    });
  return { deliveries, delivered, idle };
}

test('receivers without anything to get cost a cheap statement; what is stored, committed late or released comes to them', async () => {
  const { deliveries, delivered, idle } = startDeliveries();
  const comes = (count: number) => eventually(`${count} come`, () => delivered.length === count);
  await idle();
  await store(db.database);
  await comes(1);
  delivered[0]?.settle(0);

  await idle();
  await db.database.transaction(async (tx) => {
    await store(tx);
    // It is announced before it can be seen.
    await idle();
    assert.equal(delivered.length, 1);
  });
  await comes(2);

  // Another process gives it back, before its lease ends.
  await idle();
  const { rows } = await db.database.query<{ id: number }>('select id from smpp_delivery');
  await releaseDeliveries(db.database, [{ id: rows[0]?.id ?? 0, dueAtMs: clock.nowMs() }]);
  await comes(3);
  delivered[2]?.settle(0);
  await eventually('nothing is left', async () => {
    const left = await db.database.query('select from smpp_delivery');
    return left.count === 0;
  });
  await deliveries.stop();
});
