import { fillApplications, type KeyedApplication, makeApplications, makeForgotten } from '../applications.ts';
import type { Bench, Product } from '../bench.ts';
import { byKey, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side, usualConnections } from '../rounds.ts';
import { text } from './sms.ts';

const group = 'Growth of applications, against 1,000';
/** A cost of less than 15 %. */
const goal = 1 / 1.15;
const smallest = 1000;
/** As many are remembered and called in turn; beyond that they only lie in the database. */
const mostCalled = 100_000;
const coldPerRound = 1000;

interface Grown extends Product {
  applications: KeyedApplication[];
}

/** Two products in alternation, one of them growing: texts of callers it remembers, and of callers it has to look up. */
export async function growthApplications(bench: Bench): Promise<Row[]> {
  const sizes = bench.pace.quick ? [10_000] : [10_000, 100_000, 1_000_000];
  const [small, large] = [await startGrown(bench), await startGrown(bench)];
  await grow(bench, small, smallest);
  const rows: Row[] = [];
  for (const size of sizes) {
    const bytes = await grow(bench, large, size);
    const last = size === sizes.at(-1);
    await small.store.empty();
    await large.store.empty();
    const warm = await compare(bench, { baseline: warmSide(small), subject: warmSide(large) });
    const cold = await compare(bench, { baseline: coldSide(small), subject: coldSide(large) });
    const name = size.toLocaleString('en');
    const least = last && !bench.pace.quick ? goal : undefined;
    rows.push(ratioRow(group, `${name}: SMS accept, remembered`, warm, least));
    rows.push(ratioRow(group, `${name}: key looked up`, cold, least));
    if (bytes !== undefined) rows.push(memoryRow(name, bytes));
  }
  await Promise.all([small.node.stop(), large.node.stop()]);
  return rows.sort((a, b) => Number(a.group !== group) - Number(b.group !== group));
}

async function startGrown(bench: Bench): Promise<Grown> {
  return { ...(await bench.startProduct({ HELIOGRAPH_ROLE: 'web' })), applications: [] };
}

/** Grows the store to this many applications. Returns the bytes of heap for each more that a node remembers. */
async function grow(bench: Bench, grown: Grown, size: number): Promise<number | undefined> {
  const { store, node, applications } = grown;
  const called = Math.min(size, mostCalled);
  bench.say(`         making ${size.toLocaleString('en')} applications`);
  const added = await makeApplications(store, called - applications.length);
  const { rows } = await store.database.query<{ count: number }>('select count(*)::integer as count from application');
  await fillApplications(store, rows[0]?.count ?? 0, size, (made) =>
    bench.say(`         ${made.toLocaleString('en')}`),
  );
  await store.patiently('vacuum analyze');
  applications.push(...added);
  if (added.length === 0) return undefined;
  const before = (await node.memory()).heapUsed;
  await bench.load.run({
    ports: [node.port],
    requests: added.map(({ key }) => preview(key)),
    connections: usualConnections,
    ms: 300_000,
    once: true,
  });
  return ((await node.memory()).heapUsed - before) / added.length;
}

function warmSide({ node, applications }: Grown): Side {
  let next = 0;
  const requests = () =>
    many(20_000, () => {
      // In an order that no cache foresees.
      const { key } = applications[(next++ * 7919) % applications.length] ?? { key: '' };
      return post('/sms/v1/messages', { to: '+447700900123', ...text }, byKey(key));
    });
  return { servers: [node], requests, status: '201' };
}

function coldSide({ node, store, applications }: Grown): Side {
  let from = 0;
  return {
    servers: [node],
    async requests() {
      const some = applications.slice(from, from + coldPerRound);
      from = (from + coldPerRound) % applications.length;
      await makeForgotten(store, some);
      return some.map(({ key }) => preview(key));
    },
    status: '200',
    once: true,
  };
}

/** The least that lies behind a key, and nothing of the database. */
export function preview(key: string): string {
  return post('/sms/v1/messages/preview', { message: text.message }, byKey(key));
}

function memoryRow(size: string, bytes: number): Row {
  const value = { median: bytes / 1000, low: bytes / 1000, high: bytes / 1000 };
  return { group: 'Memory', name: `Per remembered application, ${size} of them`, unit: 'kB', value };
}
