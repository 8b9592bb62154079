// What a change of settings does to a carrier's connections: the real app and database, a scripted SMSC, and a clock that
// stands still until the test turns it.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Pdu, statuses } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type CarrierWorld, createCarrierWorld } from '../support/carrier-world.ts';
import { eventually } from '../support/eventually.ts';
import { type Script, type ScriptedSmsc, startScriptedSmsc, usualAnswer } from '../support/scripted-smsc.ts';

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
});

async function start(script?: Script): Promise<ScriptedSmsc> {
  const smsc = await startScriptedSmsc(script);
  opened.push(smsc);
  return smsc;
}

const openPeers = (smsc: ScriptedSmsc) => smsc.peers.filter(({ isOpen }) => isOpen).length;

describe('a change that needs no new connection', () => {
  test('acts on the live session', async () => {
    const smsc = await start();
    await world.connect(smsc.port, { receipts: 'all', on_doubt: 'resend' });
    /** The worker takes a change within 2 s; until then texts may leave as before. */
    const untilSubmit = (what: string, fits: (pdu: Pdu & { command: 'submit_sm' }) => boolean) =>
      eventually(what, async () => {
        const before = smsc.ledger('submit_sm').length;
        await world.send();
        await smsc.arrived('submit_sm', before + 1);
        app.clock.advance(1000);
        return smsc.ledger('submit_sm').slice(before).some(fits);
      });
    await world.change({ service_type: 'CMT' });
    await untilSubmit('the service type', ({ serviceType }) => serviceType === 'CMT');
    await world.change({ receipts: 'none' });
    await untilSubmit('no receipts', ({ registeredDelivery }) => registeredDelivery === 0);
    await world.change({ ton_npi: { destination: { ton: 2, npi: 8 } } });
    await untilSubmit('another number type', ({ destinationTon }) => destinationTon === 2);
    await world.change({ tlvs: [{ tag: 0x1400, value: 'x' }] });
    await untilSubmit('a TLV', ({ tlvs }) => tlvs.some(({ tag }) => tag === 0x1400));
    await world.change({ validity: 'none', charsets: ['ucs2/8'] });
    await untilSubmit('another charset', ({ dataCoding, validityPeriod }) => dataCoding === 8 && validityPeriod === '');
    await world.change({ errors: 'gsm-map', submit_errors: { '0x0000000b': 'never:blocked_by_carrier' } });
    smsc.follow((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      peer.send({ command: 'submit_sm_resp', status: 0x0b, sequence: pdu.sequence, messageId: '', tlvs: [] });
      return true;
    });
    await eventually('the new meaning of an error', async () => {
      const id = await world.send();
      await world.untilStatus(id, 'failed');
      return (await world.sender.readSms(id)).error?.code === 'blocked_by_carrier';
    });
    smsc.follow(() => false);
    const pace = { per_second: 400, window: 3, response_seconds: 7, on_doubt: 'hold' };
    await world.change({ ...pace, enquire_link_seconds: 5 });
    await eventually('a probe of the quiet link', () => {
      app.clock.advance(1000);
      return smsc.ledger('enquire_link').length > 0;
    });
    assert.equal(smsc.ledger('bind_transceiver').length, 1, 'it was bound once');
    assert.equal(smsc.ledger('unbind').length, 0);
    assert.equal((await world.read()).state, 'up');
  });

  test('on_doubt: a text without an answer ends as the newest settings say', async () => {
    const smsc = await start(({ command }) => command === 'submit_sm');
    await world.connect(smsc.port, { on_doubt: 'resend', on_doubt_seconds: 60, response_seconds: 5 });
    const id = await world.send();
    await smsc.arrived('submit_sm');
    await world.change({ on_doubt: 'hold', on_doubt_seconds: 0 });
    await world.untilStatus(id, 'unknown');
    assert.equal(smsc.ledger('submit_sm').length, 1, 'it was not sent again');
    assert.equal(smsc.ledger('bind_transceiver').length, 1);
  });
});

describe('the number of binds', () => {
  test('more of them, or fewer: only the difference is bound or unbound', async () => {
    const smsc = await start();
    await world.connect(smsc.port, { binds: 2 });
    assert.equal(smsc.ledger('bind_transceiver').length, 2);
    const untilOpen = (count: number) =>
      world.turnUntil(`${count} connections`, async () => {
        const { binds } = await world.read();
        return openPeers(smsc) === count && binds.length === count && binds.every(({ state }) => state === 'bound');
      });
    await world.change({ binds: 4 });
    await untilOpen(4);
    assert.deepEqual([smsc.ledger('bind_transceiver').length, smsc.ledger('unbind').length], [4, 0]);
    await world.change({ binds: 1 });
    await untilOpen(1);
    assert.deepEqual([smsc.ledger('bind_transceiver').length, smsc.ledger('unbind').length], [4, 3]);
    assert.ok(smsc.peers[0]?.isOpen, 'the first one was never closed');
    await world.send();
    await smsc.arrived('submit_sm');
  });
});

describe('a change that needs a new connection, with an account of one bind', () => {
  for (const status of [statuses.alreadyBound, statuses.bindFailed]) {
    test(`refused with ${status} right after our own unbind: bound again within seconds, and no alert is raised`, async () => {
      let refusals = 0;
      const smsc = await start((pdu, peer) => {
        if (pdu.command !== 'bind_transceiver' || peer.number === 1 || refusals === 3) return false;
        refusals++;
        peer.send({ ...(usualAnswer(pdu, '') as Pdu), status });
        return true;
      });
      await world.connect(smsc.port);
      const fromMs = app.clock.nowMs();
      await world.change({ system_type: 'VMA' });
      await world.turnUntil('it is bound anew', async () => {
        const { state } = await world.read();
        const { count } = await app.db.database.query(`select from carrier_bind where (state -> 'refused')::boolean`);
        assert.equal(count, 0, 'the account is right');
        return state === 'up' && smsc.ledger('bind_transceiver').at(-1)?.systemType === 'VMA' && refusals === 3;
      });
      assert.ok(app.clock.nowMs() - fromMs < 30_000, `it took ${app.clock.nowMs() - fromMs} ms`);
      assert.equal(smsc.ledger('bind_transmitter').length, 0, 'no other kind of bind is tried for that');
    });
  }
});

describe('try now', () => {
  test('ends the wait on every node; a carrier that is up is left alone', async () => {
    const fromMs = app.clock.nowMs();
    let isOpen = false;
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'bind_transceiver' || isOpen) return false;
      peer.send({ ...(usualAnswer(pdu, '') as Pdu), status: statuses.invalidPassword });
      return true;
    });
    await world.connect(smsc.port, {}, { wait: false });
    await world.untilShown('it waits', ({ binds }) => binds[0]?.state === 'waiting');
    const tryNow = () => world.operator.send<{ name: string }>('POST', '/portal/v1/operator/carriers/practice/try');
    const { status, body } = await tryNow();
    assert.deepEqual([status, body.name], [202, 'practice']);
    await smsc.arrived('bind_transceiver', 2);
    await world.untilShown('it waits again', ({ binds }) => binds[0]?.state === 'waiting');
    isOpen = true;
    await tryNow();
    await world.untilShown('it is up', ({ state }) => state === 'up');
    await tryNow();
    await world.send();
    await smsc.arrived('submit_sm');
    assert.equal(smsc.ledger('bind_transceiver').length, 3);
    assert.equal(app.clock.nowMs(), fromMs, 'no time has passed');
  });
});
