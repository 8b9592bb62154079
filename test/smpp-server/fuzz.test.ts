import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodePdu } from '../../src/smpp/encode.ts';
import { commandIds, emptySubmit, type Pdu, tlvTags } from '../../src/smpp/pdu.ts';
import { connectRaw, type RawClient, textTo } from '../smpp/raw-client.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppCaller, type SmppWorld } from './world.ts';

const total = inShort(6000, 1_000_000);
const inOneBlock = 200;
const markerSequence = 0x7ffffffe;
/** The heap may grow by this much, with what the service remembers of requests. */
const mostGrowth = 64 * 1024 * 1024;

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
const source = { sourceTon: 0, sourceNpi: 0, source: '' };
const destination = { destinationTon: 0, destinationNpi: 0, destination: '' };
const who = { systemId: 'hg', password: 'x', systemType: '', interfaceVersion: 0x34, addressTon: 0, addressNpi: 0 };
const part = Buffer.concat([Buffer.of(5, 0, 3, 1, 2, 1), Buffer.from('part')]);
const payload = { tag: tlvTags.messagePayload, value: Buffer.from('long '.repeat(60)) };
const samples: Pdu[] = [
  { command: 'submit_sm', ...head, ...textTo('447700900123') },
  { command: 'submit_sm', ...head, ...textTo('447700900123'), esmClass: 0x40, shortMessage: part },
  { command: 'submit_sm', ...head, ...textTo('447700900123'), shortMessage: Buffer.alloc(0), tlvs: [payload] },
  { command: 'query_sm', ...head, messageId: 'msg_01jcq000000000000000000000', ...source },
  {
    command: 'cancel_sm',
    ...head,
    serviceType: '',
    messageId: 'prt_01jcq000000000000000000000',
    ...source,
    ...destination,
  },
  { command: 'enquire_link', ...head },
  { command: 'deliver_sm_resp', ...head, messageId: '', tlvs: [] },
  { command: 'bind_transceiver', ...head, ...who, addressRange: '' },
  { command: 'data_sm', ...head, ...emptySubmit },
  { command: 'unknown', ...head, commandId: 0x21, body: Buffer.from('whatever') },
];
/** These rightly end a connection, so they are rare. */
const endings: number[] = [commandIds.unbind, commandIds.unbind_resp];

/** Octets of one PDU: a sample, changed, cut or lengthened, or noise with a header. */
function createFrame(random: (below: number) => number): Buffer {
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));
  const sample = encodePdu(samples[random(samples.length)] as Pdu);
  const kind = random(6);
  let frame = kind === 0 ? Buffer.concat([sample.subarray(0, 16), noise(random(300))]) : sample;
  if (kind === 1) frame = frame.subarray(0, Math.max(16, frame.length - random(frame.length)));
  if (kind === 2) frame = Buffer.concat([frame, noise(random(40))]);
  if (kind >= 4) for (let count = random(6); count >= 0; count--) frame[8 + random(frame.length - 8)] = random(256);
  if (random(10) === 0) frame.writeUInt32BE((random(2) * 0x80000000 + random(0x200)) >>> 0, 4);
  if (endings.includes(frame.readUInt32BE(4))) frame.writeUInt32BE(commandIds.enquire_link, 4);
  if (random(1000) === 0) frame.writeUInt32BE(endings[random(endings.length)] ?? 0, 4);
  frame.writeUInt32BE(random(0x7ffffff0), 12);
  const wrongLength = random(2) === 0 ? random(16) : 0x80000000 + random(0x7fffffff);
  frame.writeUInt32BE(random(2000) === 0 ? wrongLength : frame.length, 0);
  return frame;
}

let world: SmppWorld;
let fuzzed: SmppCaller;
before(async () => {
  const env = { HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}' };
  world = await createSmppWorld({ delivery: 'held', env });
  fuzzed = { ...(await createSmppCaller(world.app)) };
});
after(() => world.close());

async function rebind(): Promise<RawClient> {
  return eventually('the bind is admitted', async () => {
    const client = await connectRaw(world.port);
    const { system_id: systemId, password } = fuzzed.account;
    if ((await client.bind('bind_transceiver', { systemId, password })).status === 0) return client;
    client.close();
    return undefined;
  });
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test(`${total} random and mutated PDUs: no crash, no wedge, memory flat, and another bind works`, async (t) => {
  const seed = inShort(4711, Date.now() % 2 ** 31);
  const random = createRandom(seed);
  const honest = await bound(world, world.caller);
  let client = await rebind();
  let binds = 1;
  let before = 0;
  for (let sent = 0; sent < total; sent += inOneBlock) {
    if (sent === Math.floor(total / 4 / inOneBlock) * inOneBlock) before = heapUsed();
    const marker = encodePdu({ command: 'enquire_link', status: 0, sequence: markerSequence });
    const frames = Array.from({ length: inOneBlock }, () => createFrame(random));
    client.sendOctets(Buffer.concat([...frames, marker]));
    const { received } = client;
    const isMarker = ({ command, sequence }: Pdu) => command === 'enquire_link_resp' && sequence === markerSequence;
    await client.until(
      'the service reads on, or has rightly ended the connection',
      () => client.isClosed || received.some(isMarker),
    );
    (received as Pdu[]).length = 0;
    if (client.isClosed) {
      client = await rebind();
      binds++;
    }
    if (sent % (inOneBlock * 50) === 0) assert.equal((await honest.submit()).status, 0, `seed ${seed}`);
  }
  assert.equal((await honest.submit()).status, 0);
  const grown = heapUsed() - before;
  t.diagnostic(`${binds} binds, the heap grew by ${Math.round(grown / 1024)} kB, seed ${seed}`);
  assert.ok(grown < mostGrowth, `the heap grew by ${grown} octets`);
  assert.deepEqual(
    world.app.logLines.filter((line) => /"level":(50|60)/.test(line)),
    [],
    `no error is logged, seed ${seed}`,
  );
  honest.close();
  client.close();
});
