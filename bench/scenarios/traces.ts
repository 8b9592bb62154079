import { lessThroughput, moreCpu, percentRow, type Track } from '../abreast.ts';
import type { Bench } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { deliveredTexts } from './sms.ts';

/** What traces cost: texts from their accept to their receipt without a collector, and with one in a hundred and all traced. */
export async function traces(bench: Bench): Promise<Row[]> {
  const collector = await bench.startPeer('collector');
  const traced = (ratio: string) =>
    track(bench, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
  const lost = async (ratio: string, times: number) => {
    // Of the same age: a node that has run longer is compiled further.
    const [baseline, subject] = [await track(bench, {}), await traced(ratio)];
    const more = await moreCpu({ baseline, subject }, times);
    await Promise.all([baseline.bench.stop(), subject.bench.stop()]);
    return lessThroughput(more);
  };
  const rows = [
    percentRow('Traces', 'Delivered text, one in a hundred traced: less throughput', await lost('0.01', 3), 2),
    percentRow('Traces', 'Delivered text, every one traced: less throughput', await lost('1', 2), 15),
  ];
  await collector.stop();
  return rows;
}

async function track(bench: Bench, env: Record<string, string>): Promise<Track> {
  const own = await bench.another();
  return { bench: own, side: deliveredTexts(await own.startProduct(env)) };
}
