import type { Bench, Product } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { jobOf, requireStatus, type Side, spreadOf, warmUp } from '../rounds.ts';
import { drain, texts } from './sms.ts';

/**
 * What events cost: texts from their accept to their receipt, with no application listening and with every one. By CPU of
 * the node and of Postgres together, until the last text has arrived: a text has two events.
 */
export async function listening(bench: Bench): Promise<Row[]> {
  const { rounds, roundMs } = bench.pace;
  const quiet = await bench.startProduct({});
  const heard = await bench.startProduct({});
  for (const { apiKey } of heard.callers) await readFeed(heard, apiKey);
  const found: number[] = [];
  for (const product of [quiet, heard]) await warmUp(bench, sideOf(product));
  for (let round = 0; round < rounds; round++) {
    const read = (product: Product) => costOf(bench, product, roundMs);
    // The other one first in every second round.
    if (round % 2 === 0) {
      const without = await read(quiet);
      found.push((await read(heard)) / without);
    } else {
      const listened = await read(heard);
      found.push(listened / (await read(quiet)));
    }
  }
  await requireEvents(heard);
  await Promise.all([quiet.node.stop(), heard.node.stop()]);
  const value = spreadOf(found.map((ratio) => (ratio - 1) * 100));
  return [
    {
      group: 'Events',
      name: 'Delivered text, every application listening: more CPU',
      unit: '%',
      value,
      goal: { below: 25 },
    },
  ];
}

/** Each text has its two events, soon after the last receipt. */
async function requireEvents({ store }: Product): Promise<void> {
  const count = `select (select count(*) from event)::integer as events, (select count(*) from message)::integer as texts`;
  for (const untilMs = performance.now() + 10_000; ; await new Promise((done) => setTimeout(done, 200))) {
    const { rows } = await store.database.query<{ events: number; texts: number }>(count);
    const { events = 0, texts: sent = 0 } = rows[0] ?? {};
    if (events === 2 * sent) return;
    if (performance.now() > untilMs) throw new Error(`${sent} texts have ${events} events`);
  }
}

function sideOf({ node, store, callers }: Product): Side {
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

/** Microseconds of CPU for one text, of the node and Postgres. */
async function costOf(bench: Bench, product: Product, ms: number): Promise<number> {
  const side = sideOf(product);
  const before = { cpu: 0 };
  const used = async () => (await product.node.cpuMicroseconds()) + bench.postgresMicroseconds();
  const requests = await side.requests();
  const outcome = await bench.load.run({ ...jobOf(side), requests, ms }, async () => {
    before.cpu = await used();
  });
  requireStatus(outcome.statuses, side.status);
  await settle(product);
  return ((await used()) - before.cpu) / outcome.worked;
}

/** Receipts follow within milliseconds of the last text. A query that polls for them would be measured too. */
async function settle({ store }: Product): Promise<void> {
  await drain(store);
  await new Promise((done) => setTimeout(done, 1000));
}

/** From then on the application listens. */
async function readFeed({ node }: Product, apiKey: string): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${node.port}/events/v1/events`, { headers: { apikey: apiKey } });
  if (status !== 200) throw new Error(`the feed answered ${status}`);
}
