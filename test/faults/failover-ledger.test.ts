// Codes and plain texts while carriers of two kinds die, come back, are paused, and the routes change: two nodes that
// deliver, and a ledger of what arrived where.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { decodeText } from '../../src/delivery/smpp/charset.ts';
import { statusCodes } from '../../src/messages/message-row.ts';
import { type Double, startDouble } from '../providers/provider.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { receiptOf } from '../support/carrier-world.ts';
import { createRunningClock } from '../support/clock.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { type Script, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import { createSender, type Sender } from '../support/texts.ts';

const count = inShort(200, 10_000);
const withinMs = inShort(60_000, 600_000);
const env = {
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
  HELIOGRAPH_GUARD: '{"per_prefix":1000000}',
};

interface Arrival {
  carrier: string;
  text: string;
}

/** What arrived, by the phone's number. */
const ledger = new Map<string, Arrival[]>();

function note(number: string, arrival: Arrival): void {
  ledger.set(number, [...(ledger.get(number) ?? []), arrival]);
}

/** Notes every submit, and answers it with a receipt. */
function working(carrier: string): Script {
  return (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    const { sequence, destination, shortMessage } = pdu;
    note(destination, { carrier, text: decodeText(shortMessage, 'gsm7') });
    const id = `${carrier}-${peer.number}-${sequence}`;
    peer.send({ command: 'submit_sm_resp', status: 0, sequence, messageId: id, tlvs: [] });
    peer.send(receiptOf(id, { sequence, source: destination }));
    return true;
  };
}

/** Takes texts and answers nothing: what it has got is in doubt when the connection ends. */
function mute(carrier: string): Script {
  return (pdu) => {
    if (pdu.command !== 'submit_sm') return false;
    note(pdu.destination, { carrier, text: decodeText(pdu.shortMessage, 'gsm7') });
    return true;
  };
}

const refusing: Script = (_, peer) => {
  peer.reset();
  return true;
};

interface World {
  nodes: TestApp[];
  operator: TestDeveloper;
  sender: Sender;
  token: string;
  smscs: Record<'alpha' | 'bravo', ScriptedSmsc>;
  provider: Double;
}

let world: World;
before(async () => {
  const clock = createRunningClock();
  const first = await createTestApp({ clock, env });
  const second = await createTestApp({ clock, env, db: first.db });
  const operator = await createOperator(first);
  const sender = await createSender(first);
  const token = await getToken(first, sender.client, 'verify:manage');
  const smscs = { alpha: await startScriptedSmsc(working('alpha')), bravo: await startScriptedSmsc(working('bravo')) };
  const provider = await startDouble(({ body }) => {
    const { to, text, id } = JSON.parse(body);
    note(to, { carrier: 'charlie', text });
    return { status: 200, body: { id: `c-${id}` } };
  });
  world = { nodes: [first, second], operator, sender, token, smscs, provider };
  for (const [name, { port }] of Object.entries(smscs)) {
    const settings = { host: '127.0.0.1', port, system_id: name, binds: 2, on_doubt: 'resend', on_doubt_seconds: 0 };
    await connect(name, 'smpp', settings);
  }
  const describeIt = {
    url: '{{base}}/send',
    json: { to: '{{to|digits}}', text: '{{text}}', id: '{{id}}' },
    accepted: [{ status: [200] }],
    id: 'id',
  };
  await connect('charlie', 'http', { base: provider.url, describe: describeIt });
});
after(async () => {
  for (const node of world.nodes.toReversed()) await node.close();
  await Promise.all(Object.values(world.smscs).map((smsc) => smsc.close()));
  await world.provider.close();
});

async function connect(name: string, kind: string, settings: Record<string, unknown>): Promise<void> {
  const path = '/portal/v1/operator/carriers';
  const { status, body } = await world.operator.send('POST', path, { name, kind, settings });
  assert.equal(status, 201, JSON.stringify(body));
  await eventually(`${name} is up`, async () => {
    const shown = await world.operator.send<{ state: string }>('GET', `${path}/${name}`);
    return shown.body.state === 'up';
  });
}

async function operate(path: string): Promise<void> {
  const { status, body } = await world.operator.send('POST', `/portal/v1/operator/carriers/${path}`, {});
  assert.equal(status, 200, JSON.stringify(body));
}

/** The first of these share the texts, the others are for when they fail. */
async function route(carriers: string[], failover: string[]): Promise<void> {
  const path = '/portal/v1/operator/routes';
  const { body } = await world.operator.send<{ version: number }>('GET', path);
  const rule = { name: 'all', match: {}, carriers: carriers.map((carrier) => ({ carrier, weight: 1 })), failover };
  const answer = await world.operator.send('PUT', path, { version: body.version, routes: [rule] });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Every other text is a code. */
const isCode = (n: number) => n % 2 === 0;
const numberOf = (n: number) => `4477${isCode(n) ? '11' : '12'}${String(n).padStart(6, '0')}`;

/** The ids of the texts that were accepted, by number: of messages, or of verifications. */
type Load = { accepted: Map<string, string>; finished: Promise<void> };

function startLoad(): Load {
  const accepted = new Map<string, string>();
  let next = 0;
  async function call(): Promise<void> {
    for (let n = next++; n < count; n = next++) {
      const to = `+${numberOf(n)}`;
      const node = world.nodes[n % 4 < 2 ? 0 : 1];
      assert.ok(node, 'there are two nodes');
      const headers = isCode(n) ? bearer(world.token) : world.sender.key;
      const body = isCode(n) ? { to, channel: 'sms' } : { to, from: 'ACME', message: `Text ${n}` };
      const path = isCode(n) ? '/verify/v1/verifications' : '/sms/v1/messages';
      const answer = await send<{ id: string; status: string }>(node, 'POST', path, { body, headers });
      assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body));
      accepted.set(numberOf(n), answer.body.id);
    }
  }
  return { accepted, finished: Promise.all(Array.from({ length: 4 }, call)).then(() => {}) };
}

async function kill(name: 'alpha' | 'bravo'): Promise<void> {
  const smsc = world.smscs[name];
  // What arrives last has no answer.
  smsc.follow(mute(name));
  const before = smsc.ledger('submit_sm').length;
  await eventually(`${name} has texts without an answer`, () => smsc.ledger('submit_sm').length > before, { withinMs });
  smsc.follow(refusing);
  for (const peer of smsc.peers) peer.reset();
}

async function revive(name: 'alpha' | 'bravo'): Promise<void> {
  world.smscs[name].follow(working(name));
}

/** Every code that was accepted so far has arrived, whatever carriers do. */
async function untilCodesArrive({ accepted }: Load): Promise<void> {
  const codes = [...accepted.keys()].filter((number) => isCode(Number(number.slice(-6))));
  await eventually('the codes have arrived', () => codes.every((number) => ledger.has(number)), { withinMs });
}

const steps: ((load: Load) => Promise<void>)[] = [
  async (load) => {
    await kill('alpha');
    await untilCodesArrive(load);
    await revive('alpha');
  },
  async (load) => {
    await route(['bravo'], ['charlie', 'alpha']);
    await kill('bravo');
    await untilCodesArrive(load);
    await route(['charlie'], ['alpha']);
    await revive('bravo');
  },
  async (load) => {
    await route(['alpha', 'bravo', 'charlie'], []);
    await operate('alpha/pause');
    await untilCodesArrive(load);
    await operate('alpha/resume');
  },
];

async function readEnds(): Promise<Map<string, { carrier: string; marks: number; moves: number }>> {
  const { database } = world.nodes[0]?.db ?? assert.fail('there is a node');
  const open = `select from message where status in (${statusCodes(['scheduled', 'queued'])}) limit 1`;
  await eventually('every text has left', async () => (await database.query(open)).count === 0, { withinMs });
  const { rows } = await database.query<{ number: string; carrier: string; marks: number; moves: number }>(
    `select substr(recipient, 2) as number, split_part(carrier, '#', 1) as carrier, possible_duplicates as marks,
       (select count(*)::integer from text_attempt t where t.message_id = message.id and moved_to is not null) as moves
     from message where status in (${statusCodes(['sent', 'delivered'])})`,
  );
  return new Map(rows.map((row) => [row.number, row]));
}

function assertKept(t: TestContext, ends: Awaited<ReturnType<typeof readEnds>>, { accepted }: Load): void {
  assert.equal(accepted.size, count, 'every text was accepted');
  const texts = [...accepted.keys()].map((number) => {
    const arrivals = ledger.get(number) ?? [];
    const carriers = new Set(arrivals.map(({ carrier }) => carrier));
    return { number, isCode: isCode(Number(number.slice(-6))), arrivals, carriers, end: ends.get(number) };
  });
  const first = (bad: typeof texts) => bad.slice(0, 5).map(({ number, arrivals, end }) => ({ number, arrivals, end }));
  assert.deepEqual(first(texts.filter(({ end }) => end === undefined)), [], 'every text is sent or delivered');
  assert.deepEqual(first(texts.filter(({ arrivals }) => arrivals.length === 0)), [], 'every text has arrived');
  assert.deepEqual(
    first(texts.filter((each) => !each.isCode && each.carriers.size > 1)),
    [],
    'no plain text was sent by two carriers',
  );
  assert.deepEqual(first(texts.filter(({ carriers }) => carriers.size > 2)), [], 'no text had three carriers');
  assert.deepEqual(
    first(texts.filter(({ arrivals }) => new Set(arrivals.map(({ text }) => text)).size > 1)),
    [],
    'all copies of a code are the same code',
  );
  assert.deepEqual(
    first(texts.filter(({ arrivals, end }) => arrivals.length - 1 > (end?.marks ?? 0))),
    [],
    'every copy is marked',
  );
  const moved = texts.filter(({ end }) => (end?.moves ?? 0) > 0).length;
  const copied = texts.filter(({ arrivals }) => arrivals.length > 1).length;
  t.diagnostic(`${count} texts, ${moved} went on to another carrier, ${copied} arrived more than once`);
}

test(`${count} texts over two nodes and three carriers, whose carriers die and whose routes change`, async (t) => {
  await route(['alpha', 'bravo'], ['charlie']);
  const load = startLoad();
  for (const [place, step] of steps.entries()) {
    const size = Math.floor((count * (place + 1)) / (steps.length + 2));
    await eventually(`${size} texts were accepted`, () => load.accepted.size >= size, { withinMs });
    await step(load);
  }
  await load.finished;
  assertKept(t, await readEnds(), load);
});
