// run: with crashes, on web processes
// Texts on their way to a carrier while the worker, the carrier and the database die again and again.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { statusCode, statusCodes } from '../../src/messages/message-row.ts';
import { fromUuid } from '../../src/platform/ids.ts';
import type { SubmitPdu } from '../../src/smpp/pdu.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { endPostgres, inDatabase } from '../support/service-database.ts';
import { type LoadedText, startTextLoad, type TextLoad } from '../support/text-load.ts';

before(buildService);
after(endServices);

// Built before: a source that is edited meanwhile does not make every start build again.
const command: [string, string] = ['node', 'dist/service/main.js'];
const env = {
  LOG_LEVEL: 'error',
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
};

type Fault = 'worker' | 'carrier' | 'database';
/** Ten deaths of the worker, five of the carrier, two of the database, in turn. */
const manyFaults =
  'worker carrier worker database worker carrier worker worker carrier worker worker carrier worker database worker carrier worker';
const faults = inShort('worker carrier database', manyFaults).split(' ') as Fault[];
const count = inShort(300, 100_000);
const withinMs = inShort(120_000, 1_200_000);

/** Every tenth text has two parts, every thirtieth three. */
const texts: LoadedText[] = Array.from({ length: count }, (_, number) => ({
  to: `+4477009${String(number).padStart(5, '0')}`,
  message: `Number ${number}. ${'x'.repeat(partsOf(number) === 1 ? 20 : partsOf(number) * 150 - 40)}`,
}));

function partsOf(number: number): number {
  if (number % 30 === 0) return 3;
  return number % 10 === 0 ? 2 : 1;
}

/** How often each part of each text arrived, by the phone's number. */
type Ledger = Map<string, Map<number, number>>;

function note(ledger: Ledger, { destination, esmClass, shortMessage }: SubmitPdu): void {
  // The last octet of the header is the part's place.
  const part = (esmClass & 0x40) === 0 ? 1 : (shortMessage[shortMessage[0] ?? 0] ?? 0);
  const arrivals = ledger.get(`+${destination}`) ?? new Map<number, number>();
  arrivals.set(part, (arrivals.get(part) ?? 0) + 1);
  ledger.set(`+${destination}`, arrivals);
}

/** By the command that an operator uses. */
async function connect(dataDir: string, port: number): Promise<void> {
  const file = join(dataDir, 'carriers.json');
  const settings = { host: '127.0.0.1', port, system_id: 'ledger', binds: 3, on_doubt: 'resend', on_doubt_seconds: 0 };
  writeFileSync(file, JSON.stringify({ carriers: [{ name: 'ledger', kind: 'smpp', settings }] }));
  const applying = await startService({ dataDir, env, command: [...command, 'carriers', 'apply', file] });
  assert.equal((await applying.ended).code, 0, applying.output());
  await inDatabase(dataDir, (database) =>
    eventually('three binds', async () => {
      const { count: bound } = await database.query(`select from carrier_bind where state->>'state' = 'bound'`);
      return bound === 3;
    }),
  );
}

interface World {
  service: Service;
  smsc: Smsc;
  load: TextLoad;
}

const moment = () => new Promise((done) => setTimeout(done, Math.random() * 200));

async function kill(world: World): Promise<void> {
  const { service } = world;
  // It comes up while the other still runs, waits for its lock, and so loses no time.
  const next = await startService({ dataDir: service.dataDir, env, command });
  await moment();
  service.kill('SIGKILL');
  await service.ended;
  world.service = next;
  world.load.turnTo(next);
}

async function strike(fault: Fault, world: World, place: number): Promise<void> {
  await moment();
  if (fault === 'worker') await kill(world);
  else if (fault === 'database') await endPostgres(world.service.dataDir, place % 2 === 0 ? 'SIGKILL' : 'SIGINT');
  else {
    await world.smsc.goDown();
    await moment();
    await world.smsc.comeBack();
  }
}

/** A plain text that is in doubt twice ends `unknown`, by contract: each doubt is settled before the next fault. */
async function untilDoubtsAreSettled(dataDir: string): Promise<void> {
  const look = () =>
    inDatabase(dataDir, async (database) => {
      const doubts = 'select from delivery_schedule where in_doubt union all select from delivery_queue where in_doubt';
      return (await database.query(doubts)).count === 0;
    });
  // The database may be away.
  await eventually('no text is in doubt', () => look().catch(() => false), { withinMs, everyMs: 100 });
}

interface Entry {
  id: string;
  to: string;
  status: number;
  marks: number;
  /** Receipts that name its number and matched nothing. */
  unmatched: number;
}

/** Waits until every text has its end, and returns them. */
async function readEnds(dataDir: string): Promise<Entry[]> {
  return inDatabase(dataDir, async (database) => {
    const open = `select from message where status in (${statusCodes(['scheduled', 'queued', 'sent'])}) limit 1`;
    const isOver = async () => (await database.query(open)).count === 0;
    // The last fault may still keep the database away.
    await eventually('every text has its end', () => isOver().catch(() => false), { withinMs, everyMs: 100 });
    const { rows } = await database.query<Entry>(
      `select id, recipient as "to", status, possible_duplicates as marks, coalesce(u.count, 0)::integer as unmatched
       from message left join (select numbers[1] as number, count(*) from unmatched_receipt group by 1) u
         on recipient = '+' || number`,
    );
    return rows.map((row) => ({ ...row, id: fromUuid('msg', row.id) }));
  });
}

function assertKept(t: TestContext, entries: Entry[], { answered }: TextLoad, ledger: Ledger): void {
  assert.equal(entries.length, count, 'every text was accepted once');
  assert.deepEqual(
    entries.filter(({ id, to }) => answered.get(to) !== id).slice(0, 5),
    [],
    'every id that was answered is that of its text',
  );
  assert.deepEqual(
    entries.filter(({ status }) => status !== statusCode('delivered')).slice(0, 5),
    [],
    'every text is delivered',
  );
  const arrivals = entries.map(({ to, marks }) => ({ to, marks, parts: ledger.get(to) ?? new Map<number, number>() }));
  assert.deepEqual(
    arrivals.filter(({ to, parts }) => parts.size !== partsOf(Number(to.slice(-5)))).slice(0, 5),
    [],
    'every part arrived',
  );
  assert.deepEqual(
    arrivals.filter(({ marks, parts }) => Math.max(...parts.values()) - 1 > marks).slice(0, 5),
    [],
    'what arrived twice is marked',
  );
  assert.deepEqual(
    entries.filter(({ marks, unmatched }) => unmatched > 0 && marks === 0).slice(0, 5),
    [],
    'only the receipt of a copy in doubt matches nothing',
  );
  const twice = arrivals.filter(({ parts }) => Math.max(...parts.values()) > 1).length;
  const marked = arrivals.filter(({ marks }) => marks > 0).length;
  t.diagnostic(`${count} texts, ${faults.length} faults, ${marked} marked, ${twice} arrived more than once`);
}

test(`${count} texts, and ${faults.length} deaths of worker, carrier and database: none is lost, copies are marked`, async (t) => {
  const ledger: Ledger = new Map();
  // An answer takes a moment, so that every fault finds submits under way.
  const behaviour = { slow_ms: 20, receipt_after_ms: 100 };
  const smsc = await startSmsc({ behaviour, onSubmit: (pdu) => note(ledger, pdu) });
  const dataDir = makeFolder('ledger');
  const service = await startService({ dataDir, env, command });
  await service.ready;
  await connect(dataDir, smsc.port);
  const world: World = { service, smsc, load: startTextLoad(service, texts) };
  for (const [place, fault] of faults.entries()) {
    const arrivals = Math.floor((count * (place + 1)) / (faults.length + 1));
    await eventually(`${arrivals} texts have arrived`, () => ledger.size >= arrivals, { withinMs });
    await untilDoubtsAreSettled(dataDir);
    await strike(fault, world, place);
  }
  await world.load.finished;
  assertKept(t, await readEnds(dataDir), world.load, ledger);
  world.service.kill('SIGTERM');
  assert.equal((await world.service.ended).code, 0, world.service.output());
  await smsc.close();
});
