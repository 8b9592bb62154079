import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { encodePdu } from '../../src/smpp/encode.ts';
import { emptySubmit, highestSequence, type Pdu, tlvTags } from '../../src/smpp/pdu.ts';
import type { SessionOptions } from '../../src/smpp/session-types.ts';
import type { SubmitAnswer } from '../../src/smpp/submit-window.ts';
import { eventually } from '../support/eventually.ts';
import { type Peer, type Script, type ScriptedSmsc, startScriptedSmsc, usualAnswer } from '../support/scripted-smsc.ts';
import { bindSession, openSession, type TestSession } from './test-session.ts';

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
});

async function smscWith(script?: Script): Promise<ScriptedSmsc> {
  const smsc = await startScriptedSmsc(script);
  opened.push(smsc);
  return smsc;
}

async function bound(script?: Script, options: Partial<SessionOptions> = {}) {
  const smsc = await smscWith(script);
  const esme = await bindSession(smsc.port, options);
  opened.push({ close: () => esme.session.unbind() });
  const peer = smsc.peers[0] as Peer;
  return { smsc, esme, peer, session: esme.session };
}

const settled = (answers: SubmitAnswer[][]) =>
  eventually('every submit has its answer', () => answers.every(({ length }) => length > 0), { everyMs: 2 });
const kinds = (answers: SubmitAnswer[][]) => answers.map(([answer]) => answer?.kind);
const idOf = (answer: SubmitAnswer | undefined) => (answer?.kind === 'answered' ? answer.messageId : undefined);
const statusOf = (answer: SubmitAnswer | undefined) => (answer?.kind === 'answered' ? answer.status : undefined);
const many = (esme: TestSession, count: number) => Array.from({ length: count }, () => esme.submit());
const receipt = (sequence: number): Pdu => ({
  command: 'deliver_sm',
  status: 0,
  sequence,
  ...emptySubmit,
  source: '14155550100',
  shortMessage: Buffer.from('id:1 stat:DELIVRD'),
});
/** Answers what it usually answers, except for this command. */
const except =
  (command: Pdu['command'], instead: (pdu: Pdu, peer: Peer) => void): Script =>
  (pdu, peer) => {
    if (pdu.command !== command) return false;
    instead(pdu, peer);
    return true;
  };

/** The next submit is accepted: the session has come to no harm. */
async function assertWorks(esme: TestSession): Promise<void> {
  const answers = esme.submit();
  await settled([answers]);
  assert.equal(statusOf(answers[0]), 0);
}

describe('binding', () => {
  test('1: a bind unanswered for 10 s closes the session', async () => {
    const smsc = await smscWith(() => true);
    const esme = openSession(smsc.port);
    await smsc.arrived('bind_transceiver');
    esme.pass(9999);
    assert.equal(esme.session.state, 'binding');
    esme.pass(1);
    assert.equal((await esme.closed()).kind, 'bind_unanswered');
    assert.match(esme.reason()?.sentence ?? '', /did not answer the bind in 10 s/);
  });

  test('the bind has our fields, with interface version 0x34', async () => {
    const { smsc } = await bound();
    const [bind] = smsc.ledger('bind_transceiver');
    assert.deepEqual(
      [bind?.systemId, bind?.password, bind?.interfaceVersion, bind?.sequence],
      ['me', 'secret', 0x34, 1],
    );
  });

  for (const status of [0x05, 0x0e]) {
    test(`3, 4: a bind refused with ${status} closes the session and says so`, async () => {
      const smsc = await smscWith(
        except('bind_transceiver', ({ sequence }, peer) =>
          peer.send({ command: 'bind_transceiver_resp', status, sequence, systemId: '', tlvs: [] }),
        ),
      );
      const reason = await openSession(smsc.port).closed();
      assert.deepEqual([reason.kind, reason.status], ['bind_refused', status]);
      assert.match(reason.sentence, status === 5 ? /already bound/ : /wrong password/);
    });
  }

  test('2: a bind nacked with 0x03 is refused with 0x03', async () => {
    const smsc = await smscWith(
      except('bind_transceiver', (_, peer) => peer.send({ command: 'generic_nack', status: 3, sequence: 0 })),
    );
    const reason = await openSession(smsc.port).closed();
    assert.deepEqual([reason.kind, reason.status], ['bind_refused', 3]);
  });

  test('an answer with another sequence or of another kind binds nothing', async () => {
    const smsc = await smscWith(
      except('bind_transceiver', ({ sequence }, peer) => {
        peer.send({ command: 'bind_transceiver_resp', status: 0, sequence: sequence + 1, systemId: '', tlvs: [] });
        peer.send({ command: 'bind_transmitter_resp', status: 0, sequence, systemId: '', tlvs: [] });
        peer.send({ command: 'enquire_link', status: 0, sequence: 9 });
      }),
    );
    const esme = openSession(smsc.port);
    await smsc.arrived('enquire_link_resp');
    assert.equal(esme.session.state, 'binding');
    assert.equal(esme.session.counters.ignored, 2);
    await esme.session.unbind();
  });

  test('5: a bind answer that comes after the time-out does nothing to the next session', async () => {
    const smsc = await smscWith(except('bind_transceiver', () => {}));
    const first = openSession(smsc.port);
    await smsc.arrived('bind_transceiver');
    first.pass(10_000);
    smsc.follow(() => false);
    const second = await bindSession(smsc.port);
    const late = usualAnswer(smsc.ledger('bind_transceiver')[0] as Pdu, '');
    smsc.peers[0]?.send(late as Pdu);
    await assertWorks(second);
    assert.deepEqual([first.session.state, second.session.state], ['closed', 'bound']);
    await second.session.unbind();
  });

  test('6: an enquire_link before the bind answer is answered; a deliver_sm gets 0x04', async () => {
    const script: Script = (pdu, peer) => {
      if (pdu.command !== 'bind_transceiver') return false;
      peer.send({ command: 'enquire_link', status: 0, sequence: 77 }, receipt(78));
      peer.send(usualAnswer(pdu, '') as Pdu);
      return true;
    };
    const { smsc, esme } = await bound(script);
    await smsc.arrived('deliver_sm_resp');
    assert.equal(smsc.ledger('enquire_link_resp')[0]?.sequence, 77);
    const [answer] = smsc.ledger('deliver_sm_resp');
    assert.deepEqual([answer?.sequence, answer?.status], [78, 4]);
    assert.equal(esme.delivered.length, 0);
  });

  test('a submit_sm_resp before the bind answer closes the session', async () => {
    const smsc = await smscWith(
      except('bind_transceiver', (_, peer) =>
        peer.send({ command: 'submit_sm_resp', status: 0, sequence: 1, messageId: 'x', tlvs: [] }),
      ),
    );
    assert.equal((await openSession(smsc.port).closed()).kind, 'protocol');
  });

  test('a refused connection is named; so is a peer that closes it', async () => {
    const smsc = await startScriptedSmsc();
    await smsc.close();
    const refused = await openSession(smsc.port).closed();
    assert.deepEqual([refused.kind, /refuses connections/.test(refused.sentence)], ['connect', true]);
    const closing = await smscWith(except('bind_transceiver', (_, peer) => peer.end()));
    const lost = await openSession(closing.port).closed();
    assert.equal(lost.kind, 'lost');
    assert.match(lost.sentence, /closed the connection before it answered the bind/);
  });
});

describe('octets', () => {
  test('7: answers octet by octet and 40 PDUs in one packet are read alike', async () => {
    const answersTo = (submits: Pdu[]) => submits.map((pdu, place) => usualAnswer(pdu, `id${place}`) as Pdu);
    for (const size of [1, Number.MAX_SAFE_INTEGER]) {
      const { smsc, esme, peer } = await bound(
        except('submit_sm', () => {}),
        { window: 40 },
      );
      const answers = many(esme, 40);
      await smsc.arrived('submit_sm', 40);
      const octets = Buffer.concat(answersTo(smsc.ledger('submit_sm')).map(encodePdu));
      for (let at = 0; at < octets.length; at += size) {
        peer.sendOctets(octets.subarray(at, at + size));
        if (size === 1) await new Promise((done) => setImmediate(done));
      }
      await settled(answers);
      assert.deepEqual(
        answers.map(([answer]) => idOf(answer)),
        answers.map((_, place) => `id${place}`),
      );
    }
  });

  const noise: [string, Buffer, RegExp][] = [
    ['length 0', Buffer.alloc(16), /PDU length of 0/],
    ['length 15', Buffer.from([0, 0, 0, 15]), /PDU length of 15/],
    ['length 2³²−1', Buffer.from([255, 255, 255, 255]), /0xffffffff/],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request'), /speaks HTTP, not SMPP/],
  ];
  for (const [name, octets, sentence] of noise) {
    test(`8: ${name} drops the link and is named`, async () => {
      const { esme, peer } = await bound();
      peer.sendOctets(octets);
      const reason = await esme.closed();
      assert.equal(reason.kind, 'protocol');
      assert.match(reason.sentence, sentence);
    });
  }

  test('a PDU that does not end within 10 s of its first octet closes the session', async () => {
    const { smsc, esme, peer } = await bound();
    peer.send({ command: 'enquire_link', status: 0, sequence: 5 });
    peer.sendOctets(encodePdu(receipt(6)).subarray(0, 20));
    await smsc.arrived('enquire_link_resp');
    esme.pass(9000);
    assert.equal(esme.session.state, 'bound');
    esme.pass(1000);
    assert.equal((await esme.closed()).kind, 'stalled');
  });

  test('9: an unknown request is nacked with 0x03, and the next submit works', async () => {
    const { smsc, esme, peer } = await bound();
    peer.send({ command: 'unknown', commandId: 0x0777, status: 0, sequence: 0xfffffffe, body: Buffer.from('abc') });
    await smsc.arrived('generic_nack');
    const [nack] = smsc.ledger('generic_nack');
    assert.deepEqual([nack?.status, nack?.sequence], [3, 0xfffffffe]);
    await assertWorks(esme);
  });

  test('outbind, alert_notification and unknown answers are only counted', async () => {
    const { esme, peer } = await bound();
    peer.send({ command: 'outbind', status: 0, sequence: 1, systemId: 'a', password: 'b' });
    peer.send({ command: 'unknown', commandId: 0x80000777, status: 0, sequence: 2, body: Buffer.alloc(0) });
    peer.send({ command: 'unbind_resp', status: 0, sequence: 3 });
    await assertWorks(esme);
    assert.equal(esme.session.counters.ignored, 3);
  });

  test('a damaged deliver_sm is answered with what is wrong, and not handed on', async () => {
    const { smsc, esme, peer } = await bound();
    const frame = encodePdu(receipt(31));
    const cut = Buffer.from(frame.subarray(0, frame.length - 3));
    cut.writeUInt32BE(cut.length);
    peer.sendOctets(cut);
    await smsc.arrived('deliver_sm_resp');
    assert.equal(smsc.ledger('deliver_sm_resp')[0]?.status, 1);
    assert.deepEqual([esme.delivered.length, esme.session.counters.malformed], [0, 1]);
    await assertWorks(esme);
  });
});

describe('submits', () => {
  test('10: an answer twice and an unknown sequence leave the window intact', async () => {
    const script = except('submit_sm', (pdu, peer) => {
      const answer = usualAnswer(pdu, 'once') as Pdu;
      peer.send(answer, { ...answer, messageId: 'twice' } as Pdu, { ...answer, sequence: 4711 });
    });
    const { esme, session } = await bound(script);
    const answers = many(esme, 10);
    await settled(answers);
    await eventually('all answers are read', () => session.counters.unmatchedAnswers === 20);
    assert.deepEqual([session.inFlight, session.free], [0, 10]);
    assert.ok(
      answers.every((each) => each.length === 1 && idOf(each[0]) === 'once'),
      'each submit was settled once',
    );
  });

  test('11: an error with a body is refused; a success without one is accepted', async () => {
    const script = except('submit_sm', ({ sequence }, peer) => {
      if (sequence % 2 === 0)
        peer.send({ command: 'submit_sm_resp', status: 0x0b, sequence, messageId: 'x', tlvs: [] });
      else {
        const bare = encodePdu({ command: 'enquire_link_resp', status: 0, sequence });
        bare.writeUInt32BE(0x80000004, 4);
        peer.sendOctets(bare);
      }
    });
    const { esme } = await bound(script);
    const answers = many(esme, 2);
    await settled(answers);
    assert.deepEqual(
      answers.map(([answer]) => [statusOf(answer), idOf(answer)]),
      [
        [0x0b, 'x'],
        [0, ''],
      ],
    );
  });

  test('12: answers in reverse order settle each its own', async () => {
    const held: Pdu[] = [];
    const script = except('submit_sm', (pdu, peer) => {
      held.push(pdu);
      if (held.length === 10)
        peer.send(...held.toReversed().map((each) => usualAnswer(each, `s${each.sequence}`) as Pdu));
    });
    const { esme } = await bound(script);
    const answers = many(esme, 10);
    await settled(answers);
    assert.deepEqual(
      answers.map(([answer]) => idOf(answer)),
      answers.map((_, place) => `s${place + 2}`),
    );
  });

  test('13: the sequence wraps with 5 in flight and does not clash', async () => {
    const { smsc, esme } = await bound(
      except('submit_sm', () => {}),
      { lastSequence: highestSequence - 3 },
    );
    const answers = many(esme, 5);
    await smsc.arrived('submit_sm', 5);
    const sequences = smsc.ledger('submit_sm').map(({ sequence }) => sequence);
    assert.deepEqual(sequences, [highestSequence - 1, highestSequence, 1, 2, 3]);
    for (const pdu of smsc.ledger('submit_sm')) smsc.peers[0]?.send(usualAnswer(pdu, `s${pdu.sequence}`) as Pdu);
    await settled(answers);
    assert.equal(new Set(answers.map(([answer]) => idOf(answer))).size, 5);
  });

  test('14: of ten, the one without an answer is in doubt after its time, and its slot is free', async () => {
    const script: Script = (pdu) => pdu.command === 'submit_sm' && pdu.sequence === 5;
    const { esme, session } = await bound(script);
    const answers = many(esme, 10);
    await eventually('nine answers', () => session.inFlight === 1);
    esme.pass(29_000);
    assert.equal(session.inFlight, 1);
    esme.pass(1000);
    assert.equal(kinds(answers).filter((kind) => kind === 'in_doubt').length, 1);
    assert.deepEqual([session.free, session.state], [10, 'bound']);
  });

  test('15: an answer after 60 s settles it; after 5 min it does not', async () => {
    const { smsc, esme, peer, session } = await bound(except('submit_sm', () => {}));
    const answers = [esme.submit({ text: 'a' }), esme.submit({ text: 'b' })];
    await smsc.arrived('submit_sm', 2);
    const [one, other] = smsc.ledger('submit_sm').map((pdu) => usualAnswer(pdu, `late${pdu.sequence}`) as Pdu);
    esme.pass(30_000);
    assert.deepEqual(kinds(answers), ['in_doubt', 'in_doubt']);
    await smsc.arrived('enquire_link');
    await eventually('the probe is over', () => esme.log.entries().at(-1)?.command === 'enquire_link_resp');
    esme.pass(29_000);
    peer.send(one as Pdu);
    await eventually('the late answer', () => answers[0]?.length === 2);
    assert.equal(idOf(answers[0]?.[1]), 'late2');
    esme.clock.advance(5 * 60_000);
    peer.send(other as Pdu);
    await eventually('the answer after 5 min', () => session.counters.unmatchedAnswers === 1);
    assert.equal(answers[1]?.length, 1);
  });

  test('a submit may have a shorter deadline of its own', async () => {
    const { smsc, esme, session } = await bound(except('submit_sm', () => {}));
    const code = esme.submit({ deadlineMs: 5000 });
    const other = esme.submit();
    await smsc.arrived('submit_sm', 2);
    esme.pass(5000);
    assert.deepEqual(kinds([code, other]), ['in_doubt', undefined]);
    await smsc.arrived('enquire_link');
    assert.equal(session.inFlight, 1);
  });

  test('16: RST with 10 out and 5 unsent: 10 in doubt, 5 to be sent again', async () => {
    const { smsc, esme, peer } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 10);
    await smsc.arrived('submit_sm', 10);
    answers.push(...many(esme, 5));
    peer.reset();
    assert.equal((await esme.closed()).kind, 'lost');
    assert.deepEqual(kinds(answers), [...Array(10).fill('in_doubt'), ...Array(5).fill('not_sent')]);
  });

  test('16: what was not given to the socket when the session ends was not sent', async () => {
    const { smsc, esme, session } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 3);
    await smsc.arrived('submit_sm', 3);
    answers.push(...many(esme, 2));
    const unbound = session.unbind();
    assert.deepEqual(kinds(answers).slice(3), ['not_sent', 'not_sent']);
    await unbound;
    assert.deepEqual(kinds(answers).slice(0, 3), ['in_doubt', 'in_doubt', 'in_doubt']);
    assert.equal(smsc.ledger('submit_sm').length, 3);
  });

  test('17: a peer that stops reading is left after 10 s', async () => {
    const { esme, peer, session } = await bound(undefined, { window: 1000 });
    peer.pause();
    const tlvs = [{ tag: tlvTags.messagePayload, value: Buffer.alloc(60_000, 'x') }];
    const answers: SubmitAnswer[][] = [];
    while (session.free > 0) answers.push(esme.submit({ fields: { shortMessage: Buffer.alloc(0), tlvs } }));
    await new Promise((done) => setTimeout(done, 50));
    esme.pass(9000);
    assert.equal(session.state, 'bound');
    esme.pass(1000);
    assert.equal((await esme.closed()).kind, 'stalled');
    const unsent = kinds(answers).filter((kind) => kind === 'not_sent').length;
    assert.ok(unsent > 100 && unsent < 1000, `${unsent} of 1000 were not sent: some were given to the socket`);
  });

  test('20: a generic_nack refuses its submit; 0x58 comes through as it is', async () => {
    const script: Script = (pdu, peer) => {
      if (pdu.command !== 'submit_sm' || pdu.sequence % 3 !== 0) return false;
      peer.send({ command: 'generic_nack', status: 0x58, sequence: pdu.sequence });
      return true;
    };
    const { esme } = await bound(script);
    const answers = many(esme, 9);
    await settled(answers);
    assert.equal(answers.filter(([answer]) => statusOf(answer) === 0x58).length, 3);
    await assertWorks(esme);
  });

  test('a nack that names nothing of ours ends the session, the rest in doubt', async () => {
    const { smsc, esme, peer } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 2);
    await smsc.arrived('submit_sm', 2);
    peer.send({ command: 'generic_nack', status: 2, sequence: 4711 });
    assert.equal((await esme.closed()).kind, 'protocol');
    assert.deepEqual(kinds(answers), ['in_doubt', 'in_doubt']);
  });

  test('a nack without a sequence: answers of the next 5 s count, and nothing more is taken', async () => {
    const { smsc, esme, peer, session } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 3);
    await smsc.arrived('submit_sm', 3);
    peer.send({ command: 'generic_nack', status: 2, sequence: 0 });
    await eventually('it takes no more', () => session.free === 0);
    const [first, second] = smsc.ledger('submit_sm');
    peer.send(usualAnswer(first as Pdu, 'a') as Pdu, usualAnswer(second as Pdu, 'b') as Pdu);
    await eventually('two answers', () => kinds(answers).filter((kind) => kind === 'answered').length === 2);
    esme.pass(4999);
    assert.equal(session.state, 'bound', 'it waits for the third');
    esme.pass(1);
    assert.equal((await esme.closed()).kind, 'protocol');
    assert.deepEqual(kinds(answers), ['answered', 'answered', 'in_doubt']);
  });

  test('reports when a full window has room again', async () => {
    const { smsc, esme, peer, session } = await bound(
      except('submit_sm', () => {}),
      { window: 2 },
    );
    many(esme, 2);
    assert.equal(session.free, 0);
    assert.equal(esme.frees, 0);
    await smsc.arrived('submit_sm', 2);
    peer.send(usualAnswer(smsc.ledger('submit_sm')[0] as Pdu, 'x') as Pdu);
    await eventually('room', () => esme.frees === 1);
  });
});

describe('a peer that is silent', () => {
  test('is probed after a silence, and left 10 s later', async () => {
    const { smsc, esme, session } = await bound(except('enquire_link', () => {}));
    esme.pass(29_999);
    assert.equal(smsc.ledger('enquire_link').length, 0);
    esme.pass(1);
    await smsc.arrived('enquire_link');
    esme.pass(9999);
    assert.equal(session.state, 'bound');
    esme.pass(1);
    const reason = await esme.closed();
    assert.equal(reason.kind, 'silent');
    assert.match(reason.sentence, /answered nothing for 40 s/);
  });

  test('lives if it sends anything at all', async () => {
    const { smsc, esme, peer, session } = await bound(except('enquire_link', () => {}));
    esme.pass(30_000);
    await smsc.arrived('enquire_link');
    peer.send(receipt(3));
    await smsc.arrived('deliver_sm_resp');
    esme.pass(10_000);
    assert.equal(session.state, 'bound');
  });

  test('is probed after three time-outs in a row, though receipts come', async () => {
    const { smsc, esme, peer } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 2);
    await smsc.arrived('submit_sm', 2);
    esme.clock.advance(1);
    peer.send(receipt(1));
    await smsc.arrived('deliver_sm_resp', 1);
    esme.clock.advance(29_999);
    peer.send(receipt(2));
    await smsc.arrived('deliver_sm_resp', 2);
    esme.pass(0);
    assert.deepEqual(kinds(answers), ['in_doubt', 'in_doubt']);
    esme.submit();
    await smsc.arrived('submit_sm', 3);
    assert.equal(smsc.ledger('enquire_link').length, 0);
    esme.clock.advance(29_999);
    peer.send(receipt(3));
    await smsc.arrived('deliver_sm_resp', 3);
    esme.pass(1);
    await smsc.arrived('enquire_link');
  });
});

describe('receipts', () => {
  test('are answered only after they were written, with the status that the handler gives', async () => {
    let write: (status: number) => void = () => {};
    const { smsc, peer } = await bound(undefined, {
      onDeliver: () =>
        new Promise((resolve) => {
          write = resolve;
        }),
    });
    peer.send(receipt(0xffffffff), { command: 'enquire_link', status: 0, sequence: 2 });
    await smsc.arrived('enquire_link_resp');
    assert.equal(smsc.ledger('deliver_sm_resp').length, 0);
    write(0);
    await smsc.arrived('deliver_sm_resp');
    assert.equal(smsc.ledger('deliver_sm_resp')[0]?.sequence, 0xffffffff);
  });

  test('27: with more than 100 unwritten the session stops reading, and answers none of them', async () => {
    const writes: (() => void)[] = [];
    const { smsc, esme, peer, session } = await bound(undefined, {
      onDeliver: () => new Promise((resolve) => writes.push(() => resolve(0))),
    });
    for (let sent = 0; sent < 1000; sent += 50) {
      peer.send(...Array.from({ length: 50 }, (_, place) => receipt(sent + place + 1)));
      await new Promise((done) => setTimeout(done, 2));
    }
    await eventually('a hundred receipts', () => writes.length > 100);
    esme.pass(59_000);
    assert.equal(session.state, 'bound', 'its own pause is no silence of the peer');
    assert.equal(smsc.ledger('deliver_sm_resp').length, 0);
    await eventually('all are written', () => {
      for (const write of writes.splice(0)) write();
      return smsc.ledger('deliver_sm_resp').length === 1000;
    });
    await assertWorks(esme);
  });

  test('one that cannot be written is not answered, and ends the session', async () => {
    const failures = [
      () => Promise.reject(new Error('no database')),
      () => {
        throw new Error('no database');
      },
    ];
    for (const onDeliver of failures) {
      const { smsc, esme, peer } = await bound(undefined, { onDeliver });
      peer.send(receipt(1));
      assert.equal((await esme.closed()).kind, 'unwritten');
      assert.equal(smsc.ledger('deliver_sm_resp').length, 0);
      assert.equal(smsc.ledger('unbind').length, 1);
    }
  });

  test('one that is not written within a minute ends the session', async () => {
    const { smsc, esme, peer } = await bound(undefined, { onDeliver: () => new Promise(() => {}) });
    peer.send(receipt(1), { command: 'enquire_link', status: 0, sequence: 2 });
    await smsc.arrived('enquire_link_resp');
    esme.clock.advance(59_000);
    peer.send({ command: 'enquire_link', status: 0, sequence: 3 });
    await smsc.arrived('enquire_link_resp', 2);
    esme.pass(1000);
    esme.pass(5000);
    assert.equal((await esme.closed()).kind, 'unwritten');
  });
});

describe('unbinding', () => {
  test('18: the peer unbinds with 3 in flight: it is answered, the 3 settle, the session closes', async () => {
    const { smsc, esme, peer, session } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 3);
    await smsc.arrived('submit_sm', 3);
    peer.send({ command: 'unbind', status: 0, sequence: 9 });
    await smsc.arrived('unbind_resp');
    assert.deepEqual([session.state, session.free], ['unbinding', 0]);
    peer.send(...smsc.ledger('submit_sm').map((pdu) => usualAnswer(pdu, 'ok') as Pdu));
    assert.equal((await esme.closed()).kind, 'peer_unbind');
    assert.deepEqual(kinds(answers), ['answered', 'answered', 'answered']);
  });

  test('18: the peer unbinds and never answers: closed after 5 s, the rest in doubt', async () => {
    const { smsc, esme, peer } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 1);
    await smsc.arrived('submit_sm');
    peer.send({ command: 'unbind', status: 0, sequence: 9 });
    await smsc.arrived('unbind_resp');
    esme.pass(5000);
    assert.equal((await esme.closed()).kind, 'peer_unbind');
    assert.deepEqual(kinds(answers), ['in_doubt']);
  });

  test('19: both unbind: each is answered, and the session closes', async () => {
    const { smsc, esme } = await bound(
      except('unbind', (_, peer) => peer.send({ command: 'unbind', status: 0, sequence: 1 })),
    );
    await esme.session.unbind();
    assert.equal(esme.reason()?.kind, 'stopped');
    await smsc.arrived('unbind_resp');
  });

  test('19: an unbind that is never answered ends after 5 s', async () => {
    const { smsc, esme } = await bound(except('unbind', () => {}));
    const done = esme.session.unbind();
    await smsc.arrived('unbind');
    esme.pass(4999);
    assert.equal(esme.session.state, 'unbinding');
    esme.pass(1);
    await done;
    assert.equal(esme.reason()?.kind, 'stopped');
  });

  test('draining takes no submit, waits for the answers, then unbinds', async () => {
    const { smsc, esme, peer, session } = await bound(except('submit_sm', () => {}));
    const answers = many(esme, 2);
    await smsc.arrived('submit_sm', 2);
    const done = session.unbind(30_000);
    assert.deepEqual([session.free, session.state], [0, 'bound']);
    peer.send(...smsc.ledger('submit_sm').map((pdu) => usualAnswer(pdu, 'ok') as Pdu));
    await done;
    assert.deepEqual(kinds(answers), ['answered', 'answered']);
  });

  test('draining ends at its time, the rest in doubt', async () => {
    const { smsc, esme, session } = await bound(
      except('submit_sm', () => {}),
      { responseMs: 60_000 },
    );
    const answers = many(esme, 1);
    await smsc.arrived('submit_sm');
    const done = session.unbind(29_000);
    esme.pass(29_000);
    await done;
    assert.equal(smsc.ledger('unbind').length, 1);
    assert.deepEqual(kinds(answers), ['in_doubt']);
  });
});

describe('the log', () => {
  test('keeps the last 200 PDUs, without text, secret or number', async () => {
    const { esme } = await bound();
    for (let round = 0; round < 25; round++) await settled(many(esme, 10));
    const entries = esme.log.entries();
    assert.equal(entries.length, 200);
    const last = entries.at(-1);
    assert.deepEqual(
      [last?.command, last?.direction, last?.message_id, last?.carrier_message_id],
      ['submit_sm_resp', 'in', 'msg_hello', 'm250'],
    );
    assert.equal(entries.find(({ command }) => command === 'submit_sm')?.number_ends, '100');
    assert.doesNotMatch(JSON.stringify(entries), /secret|14155550|"hello"/);
  });
});
