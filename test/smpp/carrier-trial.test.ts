// An operator's test of a carrier, and what it does to the carrier's own connections.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pdu } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type CarrierWorld, createCarrierWorld, receiptOf } from '../support/carrier-world.ts';
import { createRunningClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { type Peer, type Script, type ScriptedSmsc, startScriptedSmsc, usualAnswer } from '../support/scripted-smsc.ts';

interface Report {
  id: string;
  status: string;
  steps: { step: string; ok: boolean; detail: string }[];
}

const path = '/portal/v1/operator/carriers/practice';
let app: TestApp;
let other: TestApp;
let world: CarrierWorld;
const opened: ScriptedSmsc[] = [];
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  other = await createTestApp({ db: app.db, clock: app.clock });
  world = await createCarrierWorld(app);
});
after(async () => {
  await other.close();
  await app.close();
});
afterEach(async () => {
  await world.disconnect();
  await eventually('the other node has stopped it too', () => other.delivery.workers().length <= 1);
  await Promise.all(opened.splice(0).map((smsc) => smsc.close()));
});

/** An SMSC with which the newest session wins: it drops the older one. Each text is delivered at once. */
async function startSmsc(script: Script = () => false): Promise<ScriptedSmsc> {
  let live: Peer | undefined;
  const smsc = await startScriptedSmsc((pdu, peer) => {
    if (script(pdu, peer)) return true;
    if (pdu.command === 'submit_sm') {
      const id = `d${pdu.sequence}`;
      const receipt = receiptOf(id, { sequence: pdu.sequence, source: pdu.destination });
      peer.send(usualAnswer(pdu, id) as Pdu, receipt);
      return true;
    }
    if (!pdu.command.startsWith('bind_') || pdu.command.endsWith('_resp')) return false;
    live?.reset();
    live = peer;
    return false;
  });
  opened.push(smsc);
  return smsc;
}

async function runTest(): Promise<Report> {
  const { body } = await world.operator.send<Report>('POST', `${path}/test`, { to: '+447700900123' });
  let report = body;
  await eventually('the test to end', async () => {
    report = (await world.operator.send<Report>('GET', `${path}/test/${body.id}`)).body;
    return report.status === 'passed' || report.status === 'failed';
  });
  return report;
}

const told = ({ steps }: Report) => steps.map(({ step, ok }) => `${step} ${ok ? 'ok' : 'failed'}`);
const all = ['name ok', 'connection ok', 'tls ok', 'bind ok', 'text ok', 'receipt ok'];
const detailOf = ({ steps }: Report, name: string) => steps.find(({ step }) => step === name)?.detail ?? '';

describe('a carrier that is bound', () => {
  test('is tested over its own session, and no further bind is made, whichever node has it', async () => {
    const smsc = await startSmsc();
    await world.connect(smsc.port);
    for (let round = 0; round < 3; round++) {
      const report = await runTest();
      assert.deepEqual(told(report), all, JSON.stringify(report));
      assert.match(detailOf(report, 'bind'), /^Already bound as a transceiver since 2.*no further bind/);
    }
    assert.equal(smsc.peers.length, 1, 'there was one connection');
    assert.ok(smsc.peers[0]?.isOpen, 'and it lives');
    assert.equal(smsc.ledger('submit_sm').length, 3);
  });
});

describe('a carrier that is not bound', () => {
  test('is tested by its own kind of bind; then it is bound without a wait, and sends the text', async () => {
    let isOpen = false;
    const smsc = await startSmsc((pdu, peer) => {
      if (pdu.command === 'bind_transmitter' || pdu.command === 'bind_receiver') {
        peer.send({ ...(usualAnswer(pdu, '') as Pdu), status: 0x0d });
        return true;
      }
      if (pdu.command !== 'bind_transceiver' || isOpen) return false;
      peer.send({ ...(usualAnswer(pdu, '') as Pdu), status: 0x0e });
      return true;
    });
    await world.connect(smsc.port, {}, { wait: false });
    await world.untilShown('it waits', ({ binds }) => binds.some(({ state }) => state === 'waiting'));
    const refused = await runTest();
    assert.deepEqual(told(refused).at(-1), 'bind failed');
    assert.match(detailOf(refused, 'bind'), /wrong password/, 'a carrier of transceivers gets the right reason');
    isOpen = true;
    const report = await runTest();
    assert.deepEqual(told(report), all, JSON.stringify(report));
    assert.match(detailOf(report, 'bind'), /accepted the bind of a transceiver/);
    assert.equal(smsc.ledger('bind_transmitter').length, 0, 'no other kind was tried');
    await world.untilShown('it is up', ({ state }) => state === 'up');
  });
});
