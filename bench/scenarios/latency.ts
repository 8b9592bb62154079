import type { Bench } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { jobOf, measure, median, requireStatus, type Side, spreadOf, warmUp } from '../rounds.ts';
import { echoed } from './against-fastify.ts';
import { messagingTexts, readRequests } from './reads.ts';
import { drain, texts } from './sms.ts';
import { checks, starts } from './verify.ts';

const group = 'Latency at half load';

/** Each first as fast as it goes, then paced at half of that: what a caller waits for on a node that is not full. */
export async function latency(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  const { node, store, callers } = product;
  const enough = Math.ceil((8000 * bench.pace.roundMs) / 1000);
  await store.empty();
  const side = { servers: [node], status: '200' };
  const accept: Side = { ...side, requests: () => texts(callers), status: '201' };
  const reads = await readRequests(bench, product, 'message', messagingTexts(product));
  const rows = [
    ...(await asStarted(bench)),
    ...(await atHalfLoad(bench, 'Bare Fastify echo', echoed(bench, accept))),
    ...(await atHalfLoad(bench, 'SMS accept', accept)),
    ...(await atHalfLoad(bench, 'Verification start', {
      ...side,
      requests: () => starts(product, enough),
      once: true,
    })),
    ...(await atHalfLoad(bench, 'Verification check', {
      ...side,
      requests: () => checks(bench, product, Math.ceil(enough / 4)),
      once: true,
    })),
    ...(await atHalfLoad(bench, 'Read of a message', { ...side, requests: () => reads })),
  ];
  await store.empty();
  return rows;
}

/** The service as a user starts it: texts leave while others are accepted. */
async function asStarted(bench: Bench): Promise<Row[]> {
  const { node, store, callers } = await bench.startProduct({});
  const accept: Side = { servers: [node], requests: () => texts(callers), status: '201' };
  const rows = await atHalfLoad(bench, 'SMS accept, delivery running', accept);
  await drain(store);
  await node.stop();
  return rows.map((row) => (row.name.endsWith('p99') ? { ...row, goal: { below: 15 } } : row));
}

async function atHalfLoad(bench: Bench, name: string, side: Side): Promise<Row[]> {
  const { rounds, roundMs } = bench.pace;
  await warmUp(bench, side);
  const full: number[] = [];
  for (let round = 0; round < 3; round++) full.push((await measure(bench, side, roundMs)).perSecond);
  const perSecond = median(full) / 2;
  const [p50, p99]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const requests = await side.requests();
    const outcome = await bench.load.run({ ...jobOf(side), requests, ms: roundMs, perSecond });
    requireStatus(outcome.statuses, side.status);
    p50.push(outcome.medianMs);
    p99.push(outcome.p99Ms);
  }
  return [
    { group, name: `${name}, p50`, unit: 'ms', value: spreadOf(p50), perSecond },
    { group, name: `${name}, p99`, unit: 'ms', value: spreadOf(p99), perSecond },
  ];
}
