// run: with crashes, on web processes
// Codes and plain texts while carriers of three kinds (SMPP, HTTP, virtual phones) die, come back, are paused, and the
// routes change: two nodes that deliver, and a ledger of what arrived where.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { statusCodes } from '../../src/messages/message-row.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { type Arrival, type MortalCarrier, startMortalProvider, startMortalSmsc } from '../support/mortal-carriers.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Sender } from '../support/texts.ts';

const count = inShort(200, 10_000);
const withinMs = inShort(60_000, 600_000);
const env = {
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
  HELIOGRAPH_GUARD: '{"per_prefix":1000000}',
};

/** What arrived, by the phone's number. */
const ledger = new Map<string, Arrival[]>();

function note(number: string, arrival: Arrival): void {
  ledger.set(number, [...(ledger.get(number) ?? []), arrival]);
}

interface World {
  nodes: TestApp[];
  operator: TestDeveloper;
  sender: Sender;
  token: string;
  mortals: Record<'alpha' | 'bravo', MortalCarrier>;
}

let world: World;
before(async () => {
  const clock = createRunningClock();
  const first = await createTestApp({ clock, env });
  const second = await createTestApp({ clock, env, db: first.db });
  const operator = await createOperator(first);
  const sender = await createSender(first);
  const token = await getToken(first, sender.client, 'verify:manage');
  const mortals = { alpha: await startMortalSmsc('alpha', note), bravo: await startMortalProvider('bravo', note) };
  world = { nodes: [first, second], operator, sender, token, mortals };
  await connect('alpha', 'smpp', mortals.alpha.settings);
  await connect('bravo', 'http', mortals.bravo.settings);
});
after(async () => {
  for (const node of world.nodes.toReversed()) await node.close();
  await Promise.all(Object.values(world.mortals).map((mortal) => mortal.close()));
});

async function connect(name: string, kind: string, given: Record<string, unknown>): Promise<void> {
  const path = '/portal/v1/operator/carriers';
  const settings = { ...given, on_doubt: 'resend', on_doubt_seconds: 0 };
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
type Load = { accepted: Map<string, string>; finish(): Promise<void> };

/** Goes on until `finish` is called, and there were enough. */
function startLoad(): Load {
  const accepted = new Map<string, string>();
  let next = 0;
  let isWanted = true;
  async function call(): Promise<void> {
    for (let n = next++; n < count || isWanted; n = next++) {
      const to = `+${numberOf(n)}`;
      const node = world.nodes[n % 4 < 2 ? 0 : 1];
      assert.ok(node, 'there are two nodes');
      const credential = isCode(n) ? bearer(world.token) : world.sender.key;
      const headers = { ...credential, 'Idempotency-Key': `text-${n}` };
      const body = isCode(n) ? { to, channel: 'sms' } : { to, from: 'ACME', message: `Text ${n}` };
      const path = isCode(n) ? '/verify/v1/verifications' : '/sms/v1/messages';
      const post = () => send<{ id: string; status: string }>(node, 'POST', path, { body, headers });
      let answer = await post();
      // A busy machine may keep a node from its database for a moment; the key makes the repetition safe.
      for (let tries = 1; answer.status === 503 && tries < 10; tries++) answer = await post();
      assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body));
      accepted.set(numberOf(n), answer.body.id);
    }
  }
  const calls = Promise.all(Array.from({ length: 4 }, call));
  return {
    accepted,
    async finish() {
      isWanted = false;
      await calls;
    },
  };
}

async function kill(name: 'alpha' | 'bravo'): Promise<void> {
  const mortal = world.mortals[name];
  const before = mortal.unanswered();
  // What arrives last has no answer.
  mortal.mute();
  await eventually(`${name} has texts without an answer`, () => mortal.unanswered() > before, { withinMs });
  await mortal.die();
}

const revive = (name: 'alpha' | 'bravo') => world.mortals[name].revive();

/** Every code that was accepted so far has arrived, whatever carriers do. */
async function untilCodesArrive({ accepted }: Load): Promise<void> {
  const codes = [...accepted.keys()].filter((number) => isCode(Number(number.slice(-6))));
  const haveArrived = async () => {
    const missing = codes.filter((number) => !ledger.has(number));
    return new Set(await readPhones(missing)).size === missing.length;
  };
  await eventually('the codes have arrived', haveArrived, { withinMs, everyMs: 100 }).catch(async (error: Error) => {
    const missing = codes.filter((number) => !ledger.has(number));
    throw new Error(`${error.message}\n${JSON.stringify(await whereabouts(missing), undefined, 1)}`);
  });
}

/** Says where the missing texts are, so that a failure explains itself. */
async function whereabouts(numbers: string[]): Promise<unknown[]> {
  const { database } = world.nodes[0]?.db ?? assert.fail('there is a node');
  const { rows } = await database.query<object>(
    `select now() as now, m.recipient, m.status, m.carrier, m.attempt, m.created_at, m.expires_at, to_jsonb(q) as queued,
       to_jsonb(s) as scheduled, to_jsonb(c) as claimed, (select jsonb_agg(t) from text_attempt t where t.message_id = m.id) as attempts
     from message m left join delivery_queue q on q.message_id = m.id left join delivery_schedule s on s.message_id = m.id
       left join delivery_claim c on m.id = any(c.message_ids)
     where m.recipient = any($1) limit 20`,
    [numbers.map((number) => `+${number}`)],
  );
  const { rows: carriers } = await database.query<object>('select to_jsonb(b) as bind from carrier_bind b limit 20');
  return [...rows, ...carriers];
}

const round: ((load: Load) => Promise<void>)[] = [
  async (load) => {
    await kill('alpha');
    await untilCodesArrive(load);
    await revive('alpha');
  },
  async (load) => {
    await route(['bravo'], ['sandbox', 'alpha']);
    await kill('bravo');
    await untilCodesArrive(load);
    await route(['sandbox'], ['alpha']);
    await revive('bravo');
  },
  async (load) => {
    await route(['alpha', 'bravo', 'sandbox'], []);
    await operate('alpha/pause');
    await untilCodesArrive(load);
    await operate('alpha/resume');
  },
];
const steps = Array.from({ length: inShort(1, 5) }, () => round).flat();

/** Those of the numbers whose virtual phones got a text from the sandbox's own carrier, once for each time. */
async function readPhones(numbers: string[]): Promise<string[]> {
  const { database } = world.nodes[0]?.db ?? assert.fail('there is a node');
  const { rows } = await database.query<{ number: string }>(
    // What another carrier delivered is shown there as attempt 0.
    `select substr(recipient, 2) as number from handset_text
     where application_id = $1 and recipient = any($2) and attempt > 0`,
    [uuidOf(world.sender.id), numbers.map((number) => `+${number}`)],
  );
  return rows.map(({ number }) => number);
}

/** Adds what arrived on virtual phones to the ledger. */
async function notePhones({ accepted }: Load): Promise<void> {
  for (const number of await readPhones([...accepted.keys()])) {
    const path = `/sandbox/v1/inbox?to=%2B${number}`;
    const node = world.nodes[0] ?? assert.fail('there is a node');
    const { body } = await send<{ data: { text: string }[] }>(node, 'GET', path, { headers: world.sender.key });
    for (const { text } of body.data.slice(0, 1)) note(number, { carrier: 'sandbox', text });
  }
}

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
  assert.ok(accepted.size >= count, 'every text was accepted');
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
  const shares = ['alpha', 'bravo', 'sandbox'].map(
    (carrier) => `${carrier} ${texts.filter(({ carriers }) => carriers.has(carrier)).length}`,
  );
  t.diagnostic(
    `${texts.length} texts, ${moved} went on to another carrier, ${copied} arrived more than once; ${shares.join(', ')}`,
  );
}

test(`${count} texts over two nodes and three kinds of carriers, which die and whose routes change`, async (t) => {
  await route(['alpha', 'bravo'], ['sandbox']);
  const load = startLoad();
  for (const [place, step] of steps.entries()) {
    const size = Math.floor((count * (place + 1)) / (steps.length + 2));
    await eventually(`${size} texts were accepted`, () => load.accepted.size >= size, { withinMs });
    await step(load);
  }
  await load.finish();
  const ends = await readEnds();
  await notePhones(load);
  assertKept(t, ends, load);
});
