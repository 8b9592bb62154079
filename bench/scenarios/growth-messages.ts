import { fromUuid, uuidOf } from '../../src/platform/ids.ts';
import type { Bench, Product } from '../bench.ts';
import { byKey, get } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { type Comparison, compare, type Side } from '../rounds.ts';
import { fits, removeSentSince, storeMessages } from '../stored-messages.ts';
import { texts } from './sms.ts';

const group = 'Growth of messages stored, against 10,000';
/** A cost of less than 15 %. */
const goal = 1 / 1.15;
const smallest = 10_000;
/** Of these, the callers' own are read. */
const sampled = 40_000;

/** Two products in alternation, one of them with more and more messages: accept, a page of twenty, one message. */
export async function growthMessages(bench: Bench): Promise<Row[]> {
  const sizes = bench.pace.quick ? [100_000] : [100_000, 1_000_000, 10_000_000];
  const env = { HELIOGRAPH_ROLE: 'web' };
  const [small, large] = [await bench.startProduct(env), await bench.startProduct(env)];
  await grow(bench, small, 0, smallest);
  const rows: Row[] = [];
  let stored = 0;
  for (const size of sizes) {
    if (!(await fits(bench.folder, size - stored))) {
      bench.say(`         left out: the disk has no room for ${size.toLocaleString('en')} messages`);
      break;
    }
    await grow(bench, large, stored, size);
    stored = size;
    const least = size === sizes.at(-1) && !bench.pace.quick ? goal : undefined;
    const add = async (what: string, make: (product: Product, size: number) => Promise<Side> | Side) => {
      const measured: Comparison = await compare(bench, {
        baseline: await make(small, smallest),
        subject: await make(large, size),
      });
      rows.push(ratioRow(group, `${size.toLocaleString('en')}: ${what}`, measured, least));
    };
    const startedMs = Date.now();
    await add('SMS accept', ({ node, callers }) => ({
      servers: [node],
      requests: () => texts(callers),
      status: '201',
    }));
    for (const { store } of [small, large]) await removeSentSince(store, startedMs);
    await add('list page', listSide);
    await add('read', readSide);
  }
  await Promise.all([small.node.stop(), large.node.stop()]);
  await large.store.patiently('truncate message');
  return rows;
}

async function grow(bench: Bench, { store, callers }: Product, from: number, to: number): Promise<void> {
  bench.say(`         storing ${to.toLocaleString('en')} messages`);
  const owners = callers.map(({ applicationId }) => applicationId);
  await storeMessages(store, owners, { from, to }, (stored) => bench.say(`         ${stored.toLocaleString('en')}`));
}

function listSide({ node, callers }: Product): Side {
  const requests = callers.map(({ apiKey }) => get('/sms/v1/messages?limit=20', byKey(apiKey)));
  return { servers: [node], requests: () => requests, status: '200' };
}

/** Spread over all there are, so that not only the newest pages are read. */
async function readSide({ node, store, callers }: Product, size: number): Promise<Side> {
  const keys = new Map(callers.map(({ applicationId, apiKey }) => [uuidOf(applicationId), apiKey]));
  const { rows } = await store.database.query<{ id: string; applicationId: string }>(
    `select id, application_id as "applicationId" from message tablesample system ($2::real)
     where application_id = any($1::uuid[])`,
    [[...keys.keys()], Math.min(100, (100 * sampled) / size)],
  );
  const requests = rows.map(({ id, applicationId }) =>
    get(`/sms/v1/messages/${fromUuid('msg', id)}`, byKey(keys.get(applicationId) ?? '')),
  );
  return { servers: [node], requests: () => requests, status: '200' };
}
