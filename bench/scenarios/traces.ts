import { moreCpu, moreCpuRow, type Track } from '../abreast.ts';
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
  const tracks = [await track(bench, {}), await traced('0.01'), await traced('1')];
  const [, some = [], all = []] = await moreCpu(tracks);
  await Promise.all([...tracks.map((each) => each.bench.stop()), collector.stop()]);
  return [
    moreCpuRow('Traces', 'Delivered text, one in a hundred traced', some, 2),
    moreCpuRow('Traces', 'Delivered text, every one traced', all, 15),
  ];
}

async function track(bench: Bench, env: Record<string, string>): Promise<Track> {
  const own = await bench.another();
  return { bench: own, side: deliveredTexts(await own.startProduct(env)) };
}
