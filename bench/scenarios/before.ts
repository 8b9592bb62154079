import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { moreCpu, percentRow, type Track } from '../abreast.ts';
import type { Bench, Product } from '../bench.ts';
import { byToken, get } from '../requests.ts';
import type { Row } from '../result-row.ts';
import type { Side } from '../rounds.ts';

/** The parts of a checkout's own bench: they know its store and its requests. */
interface Parts {
  bench: typeof import('../bench.ts');
  sms: typeof import('./sms.ts');
  verify: typeof import('./verify.ts');
  reads: typeof import('./reads.ts');
}

interface Act {
  name: string;
  /** Delivery is held where it is not what is measured. */
  env: Record<string, string>;
  side(bench: Bench, product: Product, parts: Parts): Side | Promise<Side>;
}

const held = { HELIOGRAPH_ROLE: 'web' };
const ownCheckout = join(import.meta.dirname, '../..');
/** Of a warm-up round, which ends sooner when they are used up. */
const enough = 8000;

const acts: Act[] = [
  {
    name: 'SMS accept, delivery held',
    env: held,
    side: (_, { node, callers }, { sms }) => ({ servers: [node], requests: () => sms.texts(callers), status: '201' }),
  },
  { name: 'Delivered text', env: {}, side: (_, product, { sms }) => deliveredBy(product, sms) },
  {
    name: 'Verification start',
    env: held,
    side: (_, product, { verify }) => ({
      ...{ servers: [product.node], requests: () => verify.starts(product, enough), status: '200', once: true },
    }),
  },
  {
    name: 'Verification check, a wrong code',
    env: held,
    side: (bench, product, { verify }) => ({
      ...{ servers: [product.node], status: '200', once: true },
      requests: () => verify.checks(bench, product, enough / verify.wrongCodes),
    }),
  },
  {
    name: 'Read of a message',
    env: held,
    async side(bench, product, { reads }) {
      const requests = await reads.readRequests(bench, product, 'message', reads.messagingTexts(product));
      return { servers: [product.node], requests: () => requests, status: '200' };
    },
  },
  {
    name: 'List page',
    env: held,
    async side(bench, product, { reads }) {
      await reads.readRequests(bench, product, 'message', reads.messagingTexts(product));
      const { node, callers } = product;
      const lists = callers.map(({ messagingToken }) =>
        get('/messaging/v1/messages?limit=20', byToken(messagingToken)),
      );
      return { servers: [node], requests: () => lists, status: '200' };
    },
  },
];

/** One of the two that work at the same time. */
interface Starter {
  parts: Parts;
  start(): Promise<Bench>;
}

/** What each act costs more than in another checkout, which was built: `npm run bench -- before=<folder>`. */
export async function before(bench: Bench, folder: string): Promise<Row[]> {
  const starterOf = async (checkout: string): Promise<Starter> => {
    const parts = await partsOf(checkout);
    return { parts, start: () => parts.bench.startBench(bench.pace) };
  };
  const sides = { baseline: await starterOf(folder), subject: await starterOf(ownCheckout) };
  return compareActs(bench, { group: 'Against the other checkout', below: 3 }, sides);
}

/** What each act costs more on another Node: `npm run bench -- node=<its program>`. */
export async function otherNode(bench: Bench, program: string): Promise<Row[]> {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  const parts = await partsOf(ownCheckout);
  const sides = {
    baseline: { parts, start: () => parts.bench.startBench(bench.pace) },
    subject: { parts, start: () => parts.bench.startBench(bench.pace, program) },
  };
  return compareActs(bench, { group: `Node ${version}, against ${process.version}` }, sides);
}

async function compareActs(
  bench: Bench,
  { group, below }: { group: string; below?: number },
  starters: { baseline: Starter; subject: Starter },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, env, side } of acts) {
    const track = async ({ parts, start }: Starter): Promise<Track> => {
      const own = await start();
      bench.atEnd(own.stop);
      const product = await own.startProduct(env);
      return { bench: own, side: await side(own, product, parts) };
    };
    const sides = { baseline: await track(starters.baseline), subject: await track(starters.subject) };
    const row = percentRow(group, `${name}: more CPU`, await moreCpu(sides), below);
    bench.say(`${row.name} ${row.value.median.toFixed(1)} %`);
    rows.push(row);
    await Promise.all(Object.values(sides).map((each) => each.bench.stop()));
  }
  return rows;
}

async function partsOf(folder: string): Promise<Parts> {
  const load = (file: string) => import(pathToFileURL(join(folder, 'bench', file)).href);
  return {
    bench: await load('bench.ts'),
    sms: await load('scenarios/sms.ts'),
    verify: await load('scenarios/verify.ts'),
    reads: await load('scenarios/reads.ts'),
  };
}

/** Texts from their accept to the handset. */
function deliveredBy({ node, store, callers }: Product, { texts, drain }: Parts['sms']): Side {
  return {
    servers: [node],
    requests: () => texts(callers),
    status: '201',
    async leftBehind() {
      await drain(store);
      return 0;
    },
  };
}
