import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { BindOptions } from '../../src/delivery/smpp/bind-options.ts';
import { type BindSupervisor, createBindSupervisor } from '../../src/delivery/smpp/bind-supervisor.ts';
import { createPduLog } from '../../src/delivery/smpp/pdu-log.ts';
import type { SmppSettings } from '../../src/delivery/smpp/settings.ts';
import type { Pdu } from '../../src/smpp/pdu.ts';
import type { SubmitAnswer } from '../../src/smpp/submit-window.ts';
import { createTestClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { type Script, type ScriptedSmsc, startScriptedSmsc, usualAnswer } from '../support/scripted-smsc.ts';
import { settingsWith } from '../support/smpp-settings.ts';
import { textTo } from './test-session.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function smscWith(script?: Script): Promise<ScriptedSmsc> {
  const smsc = await startScriptedSmsc(script);
  opened.push(smsc.close);
  return smsc;
}

const settingsFor = (port: number, others: Partial<SmppSettings> = {}): SmppSettings =>
  settingsWith({ port, system_id: 'me', password: 'secret', ...others });

function supervise(port: number, others: Partial<SmppSettings> = {}, options: Partial<BindOptions> = {}) {
  const clock = createTestClock();
  const supervisor: BindSupervisor = createBindSupervisor({
    slot: 1,
    settings: () => settingsFor(port, others),
    clock,
    log: createPduLog(clock),
    isAllowedAddress: () => true,
    onDeliver: () => Promise.resolve(0),
    onChange: () => {},
    // Half of the longest wait.
    random: () => 0.5,
    ...options,
  });
  opened.push(() => supervisor.stop(0));
  const pass = (ms: number) => {
    clock.advance(ms);
    supervisor.tick();
  };
  const reaches = (state: string) =>
    eventually(`state ${state}`, () => supervisor.state.state === state, { everyMs: 2 });
  const submit = () =>
    new Promise<SubmitAnswer>((settle) => {
      const taken = supervisor.submit({ fields: textTo('hello'), messageId: 'msg_1', settle });
      assert.ok(taken, 'the supervisor takes the text');
    });
  const waitMs = () => Date.parse(supervisor.state.next_try_at ?? '') - clock.nowMs();
  return { supervisor, clock, pass, reaches, submit, waitMs };
}

const isBind = ({ command }: Pdu) => /^bind_(receiver|transmitter|transceiver)$/.test(command);
const refuseBinds =
  (status: number): Script =>
  (pdu, peer) => {
    if (!isBind(pdu)) return false;
    peer.send({ ...(usualAnswer(pdu, '') as Pdu), status });
    return true;
  };

/** The one try of a pair has failed, and the transceiver is next. */
const isOverAttempt = ({ state }: BindSupervisor, smsc: ScriptedSmsc) =>
  smsc.ledger('bind_transmitter').length > 0 && state.mode === 'transceiver' && state.state === 'waiting';

describe('a slot', () => {
  test('is bound, and takes texts', async () => {
    const smsc = await smscWith();
    const { supervisor, reaches, submit } = supervise(smsc.port);
    await reaches('bound');
    assert.equal(supervisor.free, 10);
    assert.equal((await submit()).kind, 'answered');
    const { mode, host, error, next_try_at } = supervisor.state;
    assert.deepEqual([mode, host, error, next_try_at], ['transceiver', `127.0.0.1:${smsc.port}`, null, null]);
  });

  test('1: waits ever longer between tries, up to a minute', async () => {
    const smsc = await smscWith((pdu, peer) => {
      if (isBind(pdu)) peer.end();
      return true;
    });
    const { supervisor, reaches, pass, waitMs } = supervise(smsc.port);
    const waits: number[] = [];
    for (let round = 0; round < 8; round++) {
      await smsc.arrived('bind_transceiver', round + 1);
      if (round === 0) await eventually('the pair was tried', () => isOverAttempt(supervisor, smsc));
      await reaches('waiting');
      waits.push(waitMs());
      pass(waitMs() - 1);
      assert.equal(supervisor.state.state, 'waiting');
      pass(1);
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert.match(supervisor.state.error ?? '', /closed the connection before it answered the bind/);
    assert.match(supervisor.state.error ?? '', /for TLS, set tls\. .*no transceivers, set bind to pair/);
    assert.equal(smsc.ledger('bind_transmitter').length, 1, 'a pair is tried once');
  });

  test('the wait starts anew only after a session that was bound for a minute', async () => {
    const smsc = await smscWith();
    const { reaches, pass, waitMs } = supervise(smsc.port, { enquire_link_seconds: 3600 });
    const waitAfter = async (boundMs: number) => {
      await reaches('bound');
      pass(boundMs);
      smsc.peers.at(-1)?.reset();
      await reaches('waiting');
      const ms = waitMs();
      pass(ms);
      return ms;
    };
    assert.deepEqual([await waitAfter(1000), await waitAfter(59_000)], [500, 1000]);
    assert.deepEqual([await waitAfter(60_000), await waitAfter(0)], [500, 1000]);
  });

  test('3: already bound: waits a minute each time, then is bound', async () => {
    const smsc = await smscWith(refuseBinds(0x05));
    const { supervisor, reaches, pass, waitMs } = supervise(smsc.port);
    for (let round = 0; round < 3; round++) {
      await smsc.arrived('bind_transceiver', round + 1);
      await reaches('waiting');
      assert.equal(waitMs(), 60_000);
      assert.match(supervisor.state.error ?? '', /already bound/);
      assert.equal(supervisor.state.refused, false, 'the account is right');
      if (round === 2) smsc.follow(() => false);
      pass(60_000);
    }
    await reaches('bound');
    assert.equal(supervisor.state.error, null);
  });

  for (const status of [0x05, 0x0d]) {
    test(`3: refused with ${status} after another session of ours has just ended: a short wait, five times`, async () => {
      const smsc = await smscWith(refuseBinds(status));
      const { supervisor, reaches, pass, waitMs } = supervise(smsc.port, { bind: 'pair' }, { justUnbound: true });
      for (let round = 0; round < 5; round++) {
        await smsc.arrived('bind_transmitter', round + 1);
        await reaches('waiting');
        assert.equal(waitMs(), 1500);
        assert.equal(supervisor.state.refused, false, 'the account is right');
        pass(1500);
      }
      await smsc.arrived('bind_transmitter', 6);
      await reaches('waiting');
      assert.equal(waitMs(), 60_000, 'then it is a refusal like any other');
    });
  }

  test('3: the carrier unbinds and still counts that session: a short wait; after a break a long one', async () => {
    const smsc = await smscWith();
    const { reaches, pass, waitMs } = supervise(smsc.port);
    await reaches('bound');
    smsc.follow((pdu, peer) => pdu.command !== 'unbind_resp' && refuseBinds(0x05)(pdu, peer));
    smsc.peers[0]?.send({ command: 'unbind', status: 0, sequence: 1 });
    await reaches('waiting');
    pass(waitMs());
    await smsc.arrived('bind_transceiver', 2);
    await eventually('a short wait', () => waitMs() === 1500);
    smsc.follow(() => false);
    pass(1500);
    await reaches('bound');
    smsc.follow(refuseBinds(0x05));
    smsc.peers.at(-1)?.reset();
    await reaches('waiting');
    pass(waitMs());
    await smsc.arrived('bind_transceiver', 4);
    await eventually('a long wait', () => waitMs() === 60_000);
  });

  test('an operator ends the wait, and the waits begin anew', async () => {
    const smsc = await smscWith(refuseBinds(0x0e));
    const { supervisor, reaches, pass, waitMs } = supervise(smsc.port);
    for (let round = 0; round < 3; round++) {
      await smsc.arrived('bind_transceiver', round + 1);
      await reaches('waiting');
      if (round < 2) pass(waitMs());
    }
    assert.equal(waitMs(), 4 * 60_000);
    supervisor.tryNow();
    await smsc.arrived('bind_transceiver', 4);
    await eventually('refused again', () => supervisor.state.state === 'waiting' && waitMs() === 60_000);
    smsc.follow(() => false);
    supervisor.tryNow();
    await reaches('bound');
    supervisor.tryNow();
    assert.equal(supervisor.state.state, 'bound', 'one that is bound is left alone');
    assert.equal(smsc.ledger('bind_transceiver').length, 5);
  });

  test('4: a wrong password: one try a minute, then fewer, down to one in 15 minutes, and the state says why', async () => {
    const smsc = await smscWith(refuseBinds(0x0e));
    const { supervisor, reaches, pass, waitMs } = supervise(smsc.port);
    const waits: number[] = [];
    for (let round = 0; round < 6; round++) {
      await smsc.arrived('bind_transceiver', round + 1);
      await reaches('waiting');
      waits.push(waitMs() / 60_000);
      assert.match(supervisor.state.error ?? '', /wrong password/);
      assert.equal(supervisor.state.refused, true, 'operators see the account');
      if (round === 5) smsc.follow(() => false);
      pass(waitMs());
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 15, 15]);
    await reaches('bound');
    assert.equal(supervisor.state.refused, false);
  });

  test('18: the peer unbinds with 3 in flight: they settle, and the slot is bound again', async () => {
    const smsc = await smscWith((pdu) => pdu.command === 'submit_sm');
    const { reaches, submit, pass, waitMs } = supervise(smsc.port);
    await reaches('bound');
    const answers = Promise.all([submit(), submit(), submit()]);
    await smsc.arrived('submit_sm', 3);
    const [peer] = smsc.peers;
    peer?.send({ command: 'unbind', status: 0, sequence: 1 });
    await smsc.arrived('unbind_resp');
    peer?.send(...smsc.ledger('submit_sm').map((pdu) => usualAnswer(pdu, 'ok') as Pdu));
    assert.ok(
      (await answers).every(({ kind }) => kind === 'answered'),
      'all three were answered',
    );
    await reaches('waiting');
    pass(waitMs());
    await reaches('bound');
  });

  test('goes through the hosts in turn', async () => {
    const [first, second] = [await smscWith(refuseBinds(0x08)), await smscWith()];
    const hosts = [{ host: '127.0.0.1', port: second.port }];
    const { supervisor, reaches, pass, waitMs } = supervise(first.port, { hosts });
    await first.arrived('bind_transceiver');
    await reaches('waiting');
    pass(waitMs());
    await reaches('bound');
    assert.equal(supervisor.state.host, `127.0.0.1:${second.port}`);
  });

  test('resolves the name for every try, and goes through its addresses', async () => {
    const smsc = await smscWith(refuseBinds(0x08));
    const asked: string[] = [];
    const connected: string[] = [];
    const { reaches, pass, waitMs } = supervise(
      smsc.port,
      { host: 'smsc.test' },
      {
        resolve(host) {
          asked.push(host);
          return Promise.resolve(['127.0.0.1', '127.0.0.2']);
        },
        isAllowedAddress(address) {
          connected.push(address);
          return true;
        },
      },
    );
    for (let round = 0; round < 3; round++) {
      await eventually('a try', () => connected.length === round + 1);
      await reaches('waiting');
      pass(waitMs());
    }
    assert.deepEqual(connected.slice(0, 3), ['127.0.0.1', '127.0.0.2', '127.0.0.1']);
    assert.ok(asked.length >= 3, 'the name was resolved each time');
  });

  test('does not connect to an address that is not allowed, and says so; nor to a name without address', async () => {
    const smsc = await smscWith();
    const forbidden = supervise(smsc.port, {}, { isAllowedAddress: () => false });
    await forbidden.reaches('waiting');
    assert.match(forbidden.supervisor.state.error ?? '', /leads to 127.0.0.1, which is not allowed here/);
    const nameless = supervise(smsc.port, { host: 'nowhere.test' }, { resolve: () => Promise.reject(new Error('x')) });
    await nameless.reaches('waiting');
    assert.match(nameless.supervisor.state.error ?? '', /nowhere.test does not resolve/);
    assert.equal(smsc.peers.length, 0);
  });

  test('is drained on stop: answers are awaited, then it unbinds', async () => {
    const smsc = await smscWith((pdu) => pdu.command === 'submit_sm');
    const { supervisor, reaches, submit } = supervise(smsc.port);
    await reaches('bound');
    const answer = submit();
    await smsc.arrived('submit_sm');
    const stopped = supervisor.stop(30_000);
    assert.equal(supervisor.free, 0);
    smsc.peers[0]?.send(usualAnswer(smsc.ledger('submit_sm')[0] as Pdu, 'ok') as Pdu);
    await stopped;
    assert.equal((await answer).kind, 'answered');
    assert.equal(supervisor.state.state, 'stopped');
    assert.equal(smsc.ledger('unbind').length, 1);
  });
});

describe('2: a carrier without transceivers', () => {
  const ignores: Script = ({ command }) => command === 'bind_transceiver';
  const nacks: Script = (pdu, peer) => {
    if (pdu.command !== 'bind_transceiver') return false;
    peer.send({ command: 'generic_nack', status: 3, sequence: pdu.sequence });
    return true;
  };

  for (const [name, script] of [
    ['ignored', ignores],
    ['nacked', nacks],
  ] as const) {
    test(`${name}: a transmitter and a receiver are bound instead, and the next time at once`, async () => {
      const smsc = await smscWith(script);
      const { supervisor, reaches, pass, submit, waitMs } = supervise(smsc.port);
      await smsc.arrived('bind_transceiver');
      if (name === 'ignored') pass(10_000);
      await reaches('bound');
      assert.equal(supervisor.state.mode, 'pair');
      assert.equal((await submit()).kind, 'answered');
      smsc.peers.find(({ boundAs }) => boundAs === 'bind_transmitter')?.reset();
      await reaches('waiting');
      pass(waitMs());
      await reaches('bound');
      assert.equal(smsc.ledger('bind_transceiver').length, 1, 'the transceiver is not tried again');
    });
  }

  const ends: Script = (pdu, peer) => {
    if (pdu.command === 'bind_transceiver') peer.end();
    return pdu.command === 'bind_transceiver';
  };
  const resets: Script = (pdu, peer) => {
    if (pdu.command === 'bind_transceiver') peer.reset();
    return pdu.command === 'bind_transceiver';
  };
  const refuses =
    (status: number): Script =>
    (pdu, peer) =>
      pdu.command === 'bind_transceiver' && refuseBinds(status)(pdu, peer);
  for (const [name, script] of [
    ['closed', ends],
    ['reset', resets],
    ['refused with 0x04', refuses(0x04)],
    ['refused with 0x0d', refuses(0x0d)],
  ] as const) {
    test(`${name}: a transmitter and a receiver are tried at once, and kept`, async () => {
      const smsc = await smscWith(script);
      const { supervisor, reaches, submit } = supervise(smsc.port);
      await reaches('bound');
      const { mode, error, refused } = supervisor.state;
      assert.deepEqual([mode, error, refused], ['pair', null, false]);
      assert.equal((await submit()).kind, 'answered');
      assert.equal(smsc.ledger('bind_transceiver').length, 1);
    });
  }

  test('a refusal that means the account: a pair is tried once, and the waits are those of the account', async () => {
    const smsc = await smscWith(refuseBinds(0x0d));
    const { supervisor, pass, waitMs } = supervise(smsc.port);
    for (const [round, minutes] of [1, 2, 4].entries()) {
      await smsc.arrived('bind_transceiver', round + 1);
      await eventually('it waits', () => isOverAttempt(supervisor, smsc) && waitMs() === minutes * 60_000);
      assert.match(
        supervisor.state.error ?? '',
        /\(bind failed\)\. If the carrier takes no transceivers, set bind to pair/,
      );
      assert.equal(supervisor.state.refused, true, 'operators see the account');
      pass(waitMs());
    }
    assert.equal(smsc.ledger('bind_transmitter').length, 1);
  });

  test('a transmitter without its receiver is worse than a transceiver, which comes back', async () => {
    const smsc = await smscWith((pdu, peer) => {
      const isRefused = pdu.command === 'bind_receiver' || (pdu.command === 'bind_transceiver' && peer.number === 1);
      return isRefused && refuseBinds(0x0d)(pdu, peer);
    });
    const { supervisor, pass, waitMs, reaches } = supervise(smsc.port);
    await eventually('the transceiver is next', () => isOverAttempt(supervisor, smsc));
    assert.equal(supervisor.free, 0);
    pass(waitMs());
    await reaches('bound');
    assert.equal(supervisor.state.mode, 'transceiver');
  });

  test('a carrier that answers no bind at all is tried both ways, with growing waits', async () => {
    const smsc = await smscWith(isBind);
    const { reaches, pass, waitMs } = supervise(smsc.port);
    await smsc.arrived('bind_transceiver', 1);
    pass(10_000);
    await smsc.arrived('bind_transmitter', 1);
    await smsc.arrived('bind_receiver', 1);
    pass(10_000);
    await eventually('back to the transceiver', () => waitMs() === 1000);
    await reaches('waiting');
    pass(1000);
    await smsc.arrived('bind_transceiver', 2);
  });

  test('a transceiver that was bound once stays one, though a later bind is ignored', async () => {
    const smsc = await smscWith();
    const { supervisor, reaches, pass, waitMs } = supervise(smsc.port);
    await reaches('bound');
    smsc.follow(isBind);
    smsc.peers[0]?.reset();
    await reaches('waiting');
    pass(waitMs());
    await smsc.arrived('bind_transceiver', 2);
    pass(10_000);
    await reaches('waiting');
    assert.equal(supervisor.state.mode, 'transceiver');
  });

  test('with the receiver down texts still leave, and the state says so', async () => {
    const smsc = await smscWith();
    const { supervisor, reaches, pass, submit } = supervise(smsc.port, { bind: 'pair' });
    await reaches('bound');
    smsc.follow((pdu, peer) => {
      if (pdu.command === 'bind_receiver') peer.end();
      return pdu.command === 'bind_receiver';
    });
    smsc.peers.find(({ boundAs }) => boundAs === 'bind_receiver')?.reset();
    await reaches('degraded');
    assert.match(supervisor.state.error ?? '', /receiver is not bound, so no receipts arrive/);
    assert.equal((await submit()).kind, 'answered');
    smsc.follow(() => false);
    pass(1000);
    await reaches('bound');
    assert.equal(supervisor.state.error, null);
    assert.equal(smsc.ledger('bind_transmitter').length, 1);
  });

  test('5 s are enough to give up both', async () => {
    const smsc = await smscWith(({ command }) => command === 'unbind');
    const { supervisor, reaches, pass } = supervise(smsc.port, { bind: 'pair' });
    await reaches('bound');
    const stopped = supervisor.stop(0);
    await smsc.arrived('unbind', 2);
    pass(5000);
    await stopped;
  });
});
