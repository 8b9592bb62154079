// Faults of carriers, as a whole carrier meets them: the real app and database, a scripted SMSC, and a clock that stands
// still until the test turns it.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { decodeText } from '../../src/smpp/charset.ts';
import type { Pdu } from '../../src/smpp/pdu.ts';
import { statuses } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type CarrierWorld, createCarrierWorld, receiptOf, type ShownCarrier } from '../support/carrier-world.ts';
import { createCertificate } from '../support/certificates.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Peer, type Script, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';

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

async function start(...given: Parameters<typeof startScriptedSmsc>): Promise<ScriptedSmsc> {
  const smsc = await startScriptedSmsc(...given);
  opened.push(smsc);
  return smsc;
}

/** Leaves submits without an answer, and reports each. */
function unanswered(onSubmit: (pdu: Pdu, peer: Peer) => void = () => {}): Script {
  return (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    onSubmit(pdu, peer);
    return true;
  };
}

/** Answers a submit, and reports it as delivered. */
const delivering: Script = (pdu, peer) => {
  if (pdu.command !== 'submit_sm') return false;
  const id = `d${pdu.sequence}-${peer.number}`;
  peer.send(accepted(pdu, id), receiptOf(id, { sequence: pdu.sequence, source: pdu.destination }));
  return true;
};

function accepted({ sequence }: Pdu, messageId: string): Pdu {
  return { command: 'submit_sm_resp', status: 0, sequence, messageId, tlvs: [] };
}

describe('a carrier refuses the password', () => {
  test('one bind a minute at most, the state says why, and a new password works without a restart', async () => {
    const binds: number[] = [];
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'bind_transceiver') return false;
      binds.push(app.clock.steadyMs());
      if (pdu.password === 'right') return false;
      const { sequence } = pdu;
      peer.send({ command: 'bind_transceiver_resp', status: 0x0e, sequence, systemId: '', tlvs: [] });
      return true;
    });
    await world.connect(smsc.port, { password: 'wrong' }, { wait: false });
    const waitMs = ({ binds: [bind] }: ShownCarrier) => Date.parse(bind?.next_try_at ?? '') - app.clock.nowMs();
    for (const count of [2, 3]) {
      app.clock.advance(waitMs(await world.untilShown('it waits', (shown) => waitMs(shown) > 1000)) - 1000);
      await world.turnUntil(`bind ${count}`, () => binds.length === count);
    }
    const pauses = binds.slice(1).map((ms, index) => ms - (binds[index] ?? 0));
    assert.ok(
      pauses.every((ms) => ms >= 60_000),
      `the pauses were ${pauses}`,
    );
    const shown = await world.untilShown('a reason', (carrier) => carrier.binds[0]?.state === 'waiting');
    const [bind] = shown.binds;
    assert.match(bind?.error ?? '', /refused the bind with 0x0000000E \(wrong password\)/);
    assert.ok(bind?.next_try_at, 'it says when it tries next');
    await world.change({ password: 'right' });
    await world.untilShown('it is up', ({ state }) => state === 'up');
  });
});

describe('the answer to a submit comes late', () => {
  test('it settles the text, which is not sent again', async () => {
    let open: { pdu: Pdu; peer: Peer } | undefined;
    const smsc = await start(
      unanswered((pdu, peer) => {
        open = { pdu, peer };
      }),
    );
    await world.connect(smsc.port, { on_doubt: 'resend', on_doubt_seconds: 300 });
    const id = await world.send();
    const { pdu, peer } = await eventually('the submit', () => open);
    app.clock.advance(31_000);
    await eventually('the text is in doubt', async () => (await world.doubts()) === 1);
    app.clock.advance(30_000);
    peer.send(accepted(pdu, 'late'), receiptOf('late'));
    await world.untilStatus(id, 'delivered');
    assert.equal(await world.doubts(), 0, 'it waits for nothing');
    assert.equal(smsc.ledger('submit_sm').length, 1);
    assert.deepEqual(await world.marks(id), { attempt: 1, possibleDuplicates: 0 });
  });
});

describe('the connection of a carrier is reset', () => {
  test('what was out is in doubt and marked when it is sent again; what had not left is not', async () => {
    const smsc = await start(unanswered());
    // Two places of the window are kept for codes.
    await world.connect(smsc.port, { window: 12, on_doubt: 'resend', on_doubt_seconds: 0 });
    const ids = await Promise.all(Array.from({ length: 15 }, (_, n) => world.send({ to: `+4477009001${10 + n}` })));
    await smsc.arrived('submit_sm', 10);
    const out = new Set(smsc.ledger('submit_sm').map(({ destination }) => destination));
    assert.equal(out.size, 10);
    smsc.follow(delivering);
    smsc.peers[0]?.reset();
    await world.turnUntil('all have arrived', () => smsc.ledger('submit_sm').length === 25);
    for (const [n, id] of ids.entries()) {
      await world.untilStatus(id, 'delivered');
      const { possibleDuplicates } = await world.marks(id);
      assert.equal(possibleDuplicates, out.has(`4477009001${10 + n}`) ? 1 : 0, `text ${n}`);
    }
    assert.equal(smsc.ledger('submit_sm').length, 25);
  });
});

describe('a carrier unbinds with three submits open', () => {
  test('answers to open submits still count, and the next text goes over the next connection', async () => {
    const open: { pdu: Pdu; peer: Peer }[] = [];
    const smsc = await start(unanswered((pdu, peer) => void open.push({ pdu, peer })));
    await world.connect(smsc.port);
    const ids = await Promise.all(Array.from({ length: 3 }, () => world.send()));
    await eventually('three submits', () => open.length === 3);
    open[0]?.peer.send({ command: 'unbind', status: 0, sequence: 77 });
    await smsc.arrived('unbind_resp');
    for (const [n, { pdu, peer }] of open.entries()) peer.send(accepted(pdu, `open ${n}`));
    for (const id of ids) {
      await world.untilStatus(id, 'sent');
      assert.deepEqual(await world.marks(id), { attempt: 1, possibleDuplicates: 0 });
    }
    smsc.follow(delivering);
    await world.turnUntil('the next connection', () => smsc.ledger('bind_transceiver').length === 2);
    await world.untilStatus(await world.send(), 'delivered');
    assert.equal(smsc.ledger('submit_sm').length, 4);
  });
});

describe('a carrier throttles', () => {
  test('the rate falls and recovers, and every text is accepted at its first attempt', async () => {
    const arrivals: { ms: number; throttled: boolean }[] = [];
    let mayThrottle = true;
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      const throttled = mayThrottle && arrivals.length === 2;
      arrivals.push({ ms: app.clock.steadyMs(), throttled });
      if (!throttled) return delivering(pdu, peer);
      const { sequence } = pdu;
      peer.send({ command: 'submit_sm_resp', status: statuses.throttled, sequence, messageId: '', tlvs: [] });
      return true;
    });
    await world.connect(smsc.port, { per_second: 10, window: 1 });
    const ids = await Promise.all(Array.from({ length: 8 }, () => world.send()));
    const pass = async (ms: number, arrived: number) => {
      await eventually(`${arrived} submits`, async () => {
        if (arrivals.length >= arrived) return true;
        app.clock.advance(ms);
        return false;
      });
    };
    for (let arrived = 1; arrived <= 3; arrived++) {
      app.clock.advance(100);
      await smsc.arrived('submit_sm', arrived);
    }
    await pass(20, 6);
    const times = arrivals.map(({ ms }) => ms);
    const gap = (n: number) => (times[n] ?? 0) - (times[n - 1] ?? 0);
    assert.ok(gap(3) >= 1000, `it paused for ${gap(3)} ms`);
    // At most half of ten a second.
    assert.ok(gap(4) >= 200 && gap(5) >= 200, `then it sent after ${gap(4)} and ${gap(5)} ms`);
    mayThrottle = false;
    await pass(20, 9);
    for (const id of ids) {
      await world.untilStatus(id, 'delivered');
      assert.equal((await world.marks(id)).attempt, 1);
    }
    // A tenth more every ten seconds.
    app.clock.advance(300_000);
    await world.untilShown('it is up', ({ state }) => state === 'up');
    for (let n = 0; n < 5; n++) await world.send();
    await smsc.arrived('submit_sm', 10);
    for (let more = 11; more <= 14; more++) {
      app.clock.advance(100);
      await smsc.arrived('submit_sm', more);
    }
  });
});

describe('settings that change while a long text is half sent', () => {
  test('the rest of it has the form of its first half, and no part is sent twice', async () => {
    const text = 'A sentence of a long text. '.repeat(12);
    const taken: Buffer[] = [];
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      if (taken.length === 0) taken.push(pdu.shortMessage);
      else {
        const { sequence } = pdu;
        peer.send({ command: 'submit_sm_resp', status: statuses.throttled, sequence, messageId: '', tlvs: [] });
        return true;
      }
      return delivering(pdu, peer);
    });
    await world.connect(smsc.port);
    const id = await world.send({ message: text });
    await smsc.arrived('submit_sm', 3);
    smsc.follow((pdu, peer) => {
      if (pdu.command === 'submit_sm') taken.push(pdu.shortMessage);
      return delivering(pdu, peer);
    });
    await world.change({ long_messages: 'udh8', charsets: ['latin1/3'] });
    await world.untilStatus(id, 'delivered');
    const inOrder = taken.toSorted((a, b) => (a[6] ?? 0) - (b[6] ?? 0));
    assert.deepEqual(
      inOrder.map((octets) => octets[6]),
      [1, 2, 3],
    );
    assert.equal(inOrder.map((octets) => decodeText(octets.subarray(7), 'gsm7')).join(''), text);
    assert.equal(new Set(taken.map((octets) => octets.toString('hex', 0, 6))).size, 1, 'one header for all');
  });
});

describe('receipts', () => {
  test('a receipt that arrives over another bind settles its text', async () => {
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      peer.send(accepted(pdu, 'r24'));
      smsc.peers.find((each) => each.isOpen && each.number !== peer.number)?.send(receiptOf('r24'));
      return true;
    });
    await world.connect(smsc.port, { binds: 2 });
    await world.turnUntil('two binds', () => smsc.ledger('bind_transceiver').length === 2);
    await world.untilShown('both are bound', ({ binds }) => binds.every(({ state }) => state === 'bound'));
    await world.untilStatus(await world.send(), 'delivered');
  });

  test('a text from a phone that looks like a receipt, and a receipt whose echo holds another, are not believed', async () => {
    const smsc = await start((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      peer.send(accepted(pdu, 'r26'));
      return true;
    });
    await world.connect(smsc.port);
    const id = await world.send();
    await world.untilStatus(id, 'sent');
    const forged = Buffer.from('id:r26 sub:001 dlvrd:001 stat:UNDELIV err:001 text:');
    smsc.peers[0]?.send(receiptOf('', { esmClass: 0, shortMessage: forged, sequence: 1 }));
    const echo = Buffer.from('id:other stat:DELIVRD err:000 text:id:r26 stat:UNDELIV');
    smsc.peers[0]?.send(receiptOf('', { shortMessage: echo, sequence: 2 }));
    await smsc.arrived('deliver_sm_resp', 2);
    assert.equal((await world.sender.readSms(id)).status, 'sent');
    smsc.peers[0]?.send(receiptOf('r26', { sequence: 3 }));
    await world.untilStatus(id, 'delivered');
  });

  test('from our number to the phone: some carriers do not turn the two round', async () => {
    const smsc = await start();
    await world.connect(smsc.port);
    const id = await world.send({ from: '+447700900999' });
    await world.untilStatus(id, 'sent');
    const unturned = { source: '447700900999', destination: '447700900123', destinationTon: 1 };
    smsc.peers[0]?.send(receiptOf('m1', unturned));
    await world.untilStatus(id, 'delivered');
  });
});

describe('a carrier by TLS', () => {
  test('a certificate of another authority is refused, and the state says so', async () => {
    const [ca, other] = ['Test CA', 'Other CA'].map((name) => createCertificate({ name, isCa: true }));
    const server = createCertificate({ name: '127.0.0.1', ...(ca && { issuer: ca }) });
    const smsc = await start(() => false, server);
    await world.connect(smsc.port, { tls: { ca: other?.cert, servername: '127.0.0.1' } }, { wait: false });
    const { binds } = await world.untilShown('a reason', (carrier) => typeof carrier.binds[0]?.error === 'string');
    assert.match(binds[0]?.error ?? '', /certificate/);
    assert.equal(smsc.ledger('bind_transceiver').length, 0);
  });
});

describe('a silent carrier with an open connection holds a code for 6 s at most', () => {
  async function verify(): Promise<void> {
    const token = await getToken(app, world.sender.client, 'verify:manage');
    const body = { to: '+447700900321', channel: 'sms' };
    const headers = bearer(token);
    const answer = await send(app, 'POST', '/verify/v1/verifications', { body, headers });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
  const texts = (smsc: ScriptedSmsc) =>
    smsc.ledger('submit_sm').map(({ shortMessage }) => decodeText(shortMessage, 'gsm7'));

  test('a code leaves on another carrier when the first one is silent', async () => {
    const [silent, working] = [await start(unanswered()), await start(delivering)];
    await world.connect(silent.port, {}, { name: 'first' });
    await world.connect(working.port, {}, { name: 'second' });
    await verify();
    await silent.arrived('submit_sm');
    app.clock.advance(6000);
    await working.arrived('submit_sm');
    assert.deepEqual(texts(working), texts(silent));
  });

  test('without another one it leaves on the same one again', async () => {
    const silent = await start(unanswered());
    await world.connect(silent.port);
    await verify();
    await silent.arrived('submit_sm');
    app.clock.advance(5000);
    await eventually('the code is in doubt', async () => (await world.doubts()) === 1);
    app.clock.advance(1000);
    await silent.arrived('submit_sm', 2);
    const [first, second] = texts(silent);
    assert.equal(second, first);
  });
});
