// What waits on our side is not the carrier's silence: a healthy carrier is never rested for it, and texts that have not
// left go on with its next connection. The real app and database, a scripted SMSC, a clock that the test turns.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pdu } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type CarrierWorld, createCarrierWorld } from '../support/carrier-world.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Peer, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';

let app: TestApp;
let world: CarrierWorld;
const opened: ScriptedSmsc[] = [];
before(async () => {
  app = await createTestApp();
  world = await createCarrierWorld(app);
});
after(() => app.close());
afterEach(async () => {
  await world.disconnect();
  await Promise.all(opened.splice(0).map((smsc) => smsc.close()));
  // What one test leaves behind is not sent in the next.
  await app.db.database.query('truncate delivery_queue, delivery_schedule');
});

interface Open {
  pdu: Pdu;
  peer: Peer;
  atMs: number;
}

/** An SMSC that answers when the test says so. */
async function startPatient(): Promise<{ smsc: ScriptedSmsc; open: Open[]; accept: (some: Open[]) => void }> {
  const open: Open[] = [];
  const smsc = await startScriptedSmsc((pdu, peer) => {
    if (pdu.command === 'submit_sm') open.push({ pdu, peer, atMs: app.clock.steadyMs() });
    return pdu.command === 'submit_sm';
  });
  opened.push(smsc);
  const accept = (some: Open[]) => {
    for (const { pdu, peer } of some) {
      const { sequence } = pdu;
      peer.send({ command: 'submit_sm_resp', status: 0, sequence, messageId: `${peer.number}-${sequence}`, tlvs: [] });
      open.splice(
        open.findIndex((each) => each.pdu === pdu),
        1,
      );
    }
  };
  return { smsc, open, accept };
}

async function sendMany(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => world.send()));
}

describe('a carrier that answers in 2 s, and more texts than its window holds', () => {
  const texts = 120;
  const answerMs = 2000;

  test('it never stands still, and no text is held back, moved or in doubt', async () => {
    const { smsc, open, accept } = await startPatient();
    await world.connect(smsc.port, { window: 10 });
    await sendMany(texts);
    await eventually('bulk has all slots but two', () => open.length === 8);
    let answered = 0;
    await eventually('every text has arrived', async () => {
      // The clock stands still while a slot is free: only a carrier that is rested would need the time.
      if (open.length === Math.min(8, texts - answered)) app.clock.advance(250);
      const due = open.filter(({ atMs }) => app.clock.steadyMs() - atMs >= answerMs);
      answered += due.length;
      accept(due);
      return answered === texts;
    });
    assert.equal(smsc.ledger('submit_sm').length, texts);
    const { rows } = await app.db.database.query<{ held: number; tried: number }>(
      `select (select count(*)::integer from delivery_schedule) as held,
         (select count(*)::integer from text_attempt) as tried`,
    );
    assert.deepEqual(rows, [{ held: 0, tried: 0 }]);
  });
});

describe('the carrier unbinds in order while texts wait for a place', () => {
  async function act(what: 'pause' | 'resume'): Promise<void> {
    const { status } = await world.operator.send('POST', `/portal/v1/operator/carriers/first/${what}`);
    assert.equal(status, 200);
  }

  test('waiting texts go on with the next connection at once: none is given back, and a code stays with its carrier', async () => {
    const { smsc, open, accept } = await startPatient();
    const other = await startScriptedSmsc();
    opened.push(other);
    await world.connect(smsc.port, { window: 2 }, { name: 'first' });
    // They wait for the carrier, so that one claim takes them all.
    await act('pause');
    const headers = bearer(await getToken(app, world.sender.client, 'verify:manage'));
    const start = (n: number) =>
      send(app, 'POST', '/verify/v1/verifications', { body: { to: `+44770090020${n}`, channel: 'sms' }, headers });
    const started = await Promise.all([1, 2, 3, 4, 5].map(start));
    assert.ok(started.every(({ status }) => status === 200));
    await act('resume');
    await world.turnUntil('all are claimed', async () => {
      return open.length === 2 && (await app.db.database.query('select from delivery_queue')).count === 0;
    });
    await world.connect(other.port, {}, { name: 'second' });
    open[0]?.peer.send({ command: 'unbind', status: 0, sequence: 77 });
    await smsc.arrived('unbind_resp');
    accept([...open]);
    await world.turnUntil('the next connection', () => smsc.ledger('bind_transceiver').length === 2);
    await eventually('the next two', () => open.length === 2);
    accept([...open]);
    await eventually('the last one', () => open.length === 1);
    accept([...open]);
    assert.equal(other.ledger('submit_sm').length, 0);
    assert.equal((await app.db.database.query('select from delivery_schedule')).count, 0);
  });
});
