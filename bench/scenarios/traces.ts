import type { Bench, Product } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { jobOf, requireStatus, type Side, spreadOf, warmUp } from '../rounds.ts';
import { drain, texts } from './sms.ts';

/**
 * What traces cost: texts from their accept to their receipt without a collector, and with one in hundred and all of them
 * traced. By CPU of the node and of Postgres together; each round measures all three, in another order.
 */
export async function traces(bench: Bench): Promise<Row[]> {
  const collector = await bench.startPeer('collector');
  const traced = (ratio: string) =>
    bench.startProduct({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
  const products = [await bench.startProduct({}), await traced('0.01'), await traced('1')] as const;
  for (const product of products) await warmUp(bench, sideOf(product));
  const found: number[][] = [];
  for (let round = 0; round < bench.pace.rounds * 4; round++) {
    const costs: number[] = [];
    for (const turn of [0, 1, 2]) {
      const index = (round + (round % 2 === 0 ? turn : 2 - turn)) % 3;
      costs[index] = await costOf(bench, products[index] as Product);
    }
    found.push(costs);
  }
  await Promise.all(products.map(({ node }) => node.stop()));
  await collector.stop();
  const row = (name: string, index: number, below: number): Row => ({
    group: 'Traces',
    name: `Delivered text, ${name}: more CPU`,
    unit: '%',
    value: spreadOf(found.map((costs) => ((costs[index] ?? 0) / (costs[0] ?? 1) - 1) * 100)),
    goal: { below },
  });
  return [row('one in hundred traced', 1, 2), row('every one traced', 2, 15)];
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

/** Microseconds of CPU for one text, of the node and Postgres, its spans included. */
async function costOf(bench: Bench, product: Product): Promise<number> {
  const side = sideOf(product);
  const before = { cpu: 0 };
  const used = async () => (await product.node.cpuMicroseconds()) + bench.postgresMicroseconds();
  const requests = await side.requests();
  const outcome = await bench.load.run({ ...jobOf(side), requests, ms: bench.pace.roundMs }, async () => {
    before.cpu = await used();
  });
  requireStatus(outcome.statuses, side.status);
  await drain(product.store);
  // Receipts follow within milliseconds, and the last spans within a second.
  await new Promise((done) => setTimeout(done, 1300));
  return ((await used()) - before.cpu) / outcome.worked;
}
