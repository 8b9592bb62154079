// Receipts come while the database is away.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statusCode } from '../../src/messages/message-row.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type CarrierWorld, createCarrierWorld, receiptOf } from '../support/carrier-world.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { type Peer, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import { text } from '../support/texts.ts';

const count = 1000;
let db: TestDatabase;
let proxy: FaultProxy;
let app: TestApp;
let world: CarrierWorld;
let smsc: ScriptedSmsc;
before(async () => {
  db = await createTestDatabase();
  proxy = await createFaultProxy(db.connection);
  // Only what delivers goes by way of the proxy.
  app = await createTestApp({ db: { ...db, database: db.another({ connection: proxy.connection }) } });
  world = await createCarrierWorld(app);
  smsc = await startScriptedSmsc();
});
after(async () => {
  proxy.set({ kind: 'pass' });
  await world.disconnect();
  await app.close();
  await smsc.close();
  await proxy.close();
  await db.drop();
});

async function accept(): Promise<void> {
  for (let done = 0; done < count; done += 100) {
    const body = { messages: Array.from({ length: 100 }, () => text) };
    const path = '/messaging/v1/messages/batch';
    const answer = await send(app, 'POST', path, { body, headers: world.sender.token });
    assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 200));
  }
}

async function countOf(status: 'sent' | 'delivered'): Promise<number> {
  const { rows } = await db.database.query<{ count: number }>(
    'select count(*)::integer as count from message where status = $1',
    [statusCode(status)],
  );
  return rows[0]?.count ?? 0;
}

/** The receipts that were acknowledged, by the sequence under which they were sent. */
const acknowledged = () =>
  new Set(smsc.ledger('deliver_sm_resp').flatMap(({ sequence, status }) => (status === 0 ? [sequence] : [])));

/** Reports every text whose receipt is not acknowledged. The SMSC has named them m1, m2, … */
function report(peer: Peer | undefined): void {
  const known = acknowledged();
  const all = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !known.has(number));
  peer?.send(...all.map((number) => receiptOf(`m${number}`, { sequence: number })));
}

test(`none of ${count} receipts is acknowledged unwritten, and all are applied when the database is back`, async () => {
  await world.connect(smsc.port, { window: 100 });
  await accept();
  await eventually('all are sent', async () => (await countOf('sent')) === count, { everyMs: 50 });
  proxy.set({ kind: 'reset' });
  report(smsc.peers[0]);
  // Its slot is a lock in the database, so the bind ends with the connection that held it.
  await smsc.arrived('unbind');
  await world.turnUntil('the connection is closed', () => smsc.peers[0]?.isOpen === false);
  assert.equal(acknowledged().size, 0);
  assert.equal(await countOf('delivered'), 0);
  proxy.set({ kind: 'pass' });
  await world.turnUntil('the next bind', () => smsc.ledger('bind_transceiver').length === 2);
  report(smsc.peers[1]);
  await eventually('all are acknowledged', () => acknowledged().size === count, { everyMs: 50 });
  assert.equal(await countOf('delivered'), count);
});
