import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodePdu } from '../../src/smpp/encode.ts';
import { commandIds, emptySubmit, type Pdu, tlvTags } from '../../src/smpp/pdu.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { type Peer, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import { bindSession, type TestSession } from './test-session.ts';

const total = inShort(8000, 1_000_000);
const inOneBlock = 100;
const markerSequence = 0x7ffffffe;
/** The heap may grow by this much; a leak of a hundred octets for each PDU would be more in the long form. */
const mostGrowth = 32 * 1024 * 1024;

let smsc: ScriptedSmsc;
before(async () => {
  smsc = await startScriptedSmsc();
});
after(() => smsc.close());

/** Random numbers that a seed repeats (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const head = { status: 0, sequence: 1 };
const receiptTlvs = [
  { tag: tlvTags.receiptedMessageId, value: Buffer.from('m1\0') },
  { tag: tlvTags.messageState, value: Buffer.from([2]) },
];
const shortMessage = Buffer.from('id:1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:');
const samples: Pdu[] = [
  { command: 'deliver_sm', ...head, ...emptySubmit, source: '14155550100', shortMessage, tlvs: receiptTlvs },
  { command: 'submit_sm_resp', ...head, messageId: 'abcdef', tlvs: [] },
  { command: 'enquire_link', ...head },
  { command: 'enquire_link_resp', ...head },
  { command: 'bind_transceiver_resp', ...head, systemId: 'smsc', tlvs: [] },
  { command: 'outbind', ...head, systemId: 'smsc', password: 'x' },
  {
    command: 'alert_notification',
    ...head,
    sourceTon: 1,
    sourceNpi: 1,
    source: '1',
    esmeTon: 1,
    esmeNpi: 1,
    esme: '2',
    tlvs: [],
  },
  { command: 'query_sm', ...head, messageId: 'x', sourceTon: 1, sourceNpi: 1, source: '123' },
  { command: 'submit_sm', ...head, ...emptySubmit, destination: '14155550100', shortMessage },
  { command: 'unknown', ...head, commandId: 0x777, body: Buffer.from('whatever') },
];
/** These may rightly end a session, so they are rare. */
const endings = [commandIds.unbind, commandIds.generic_nack, commandIds.unbind_resp];

/** Octets of one PDU: a sample, changed, cut or lengthened, or noise with a header. */
function createFrame(random: (below: number) => number): Buffer {
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));
  const sample = encodePdu(samples[random(samples.length)] as Pdu);
  const kind = random(5);
  let frame = kind === 0 ? Buffer.concat([sample.subarray(0, 16), noise(random(300))]) : sample;
  if (kind === 1) frame = frame.subarray(0, Math.max(16, frame.length - random(frame.length)));
  if (kind === 2) frame = Buffer.concat([frame, noise(random(40))]);
  if (kind >= 3) for (let count = random(8); count >= 0; count--) frame[8 + random(frame.length - 8)] = random(256);
  if (random(10) === 0) frame.writeUInt32BE((random(2) * 0x80000000 + random(0x200)) >>> 0, 4);
  if (endings.some((id) => id === frame.readUInt32BE(4))) frame.writeUInt32BE(commandIds.enquire_link, 4);
  if (random(1000) === 0) frame.writeUInt32BE(endings[random(endings.length)] ?? 0, 4);
  frame.writeUInt32BE(random(3) === 0 ? random(0xffffffff) : random(50), 12);
  // Framing is lost rarely, because it rightly ends the session.
  const wrongLength = random(2) === 0 ? random(16) : 0x80000000 + random(0x7fffffff);
  frame.writeUInt32BE(random(2000) === 0 ? wrongLength : frame.length, 0);
  return frame;
}

async function bind(): Promise<{ esme: TestSession; peer: Peer }> {
  smsc.peers.length = 0;
  const esme = await bindSession(smsc.port);
  assert.equal(esme.session.state, 'bound');
  return { esme, peer: smsc.peers[0] as Peer };
}

async function assertNextSubmitWorks(esme: TestSession): Promise<void> {
  const answers = esme.submit();
  await eventually('the next submit is answered', () => answers.length > 0, { everyMs: 1 });
  assert.equal(answers[0]?.kind, 'answered');
}

/** Sends a block and waits until the session has read all of it, or has rightly ended. */
async function sendBlock(frames: Buffer[], esme: TestSession, peer: Peer): Promise<void> {
  peer.received.length = 0;
  const marker = encodePdu({ command: 'enquire_link', status: 0, sequence: markerSequence });
  peer.sendOctets(Buffer.concat([...frames, marker]));
  const isRead = () => peer.received.some(({ sequence }) => sequence === markerSequence);
  await eventually('the session reads on', () => esme.session.state === 'closed' || isRead(), { everyMs: 0 });
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test(`${total} random and mutated PDUs: no crash, no wedge, memory flat, and the next submit works`, async (t) => {
  const seed = inShort(4711, Date.now() % 2 ** 31);
  const random = createRandom(seed);
  let { esme, peer } = await bind();
  let sessions = 1;
  let before = 0;
  for (let sent = 0; sent < total; sent += inOneBlock) {
    if (sent === total / 4) before = heapUsed();
    await sendBlock(
      Array.from({ length: inOneBlock }, () => createFrame(random)),
      esme,
      peer,
    );
    // A session that waits for an answer to its unbind, or for the rest of a PDU, has a deadline.
    if (esme.session.state !== 'bound') {
      await esme.session.unbind();
      ({ esme, peer } = await bind());
      sessions++;
    }
    if (sent % 1000 === 0) await assertNextSubmitWorks(esme);
  }
  await assertNextSubmitWorks(esme);
  await esme.session.unbind();
  const growth = heapUsed() - before;
  t.diagnostic(`seed ${seed}: ${total} PDUs over ${sessions} sessions, heap ${Math.round(growth / 1024)} KiB larger`);
  assert.ok(growth < mostGrowth, `the heap grew by ${growth} octets`);
  assert.ok(sessions < total / inOneBlock, `${sessions} sessions: most blocks are read to their end`);
});
