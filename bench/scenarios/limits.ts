import type { Bench } from '../bench.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';
import { texts } from './sms.ts';

/** What Node itself could do: an echo of the same JSON without any framework. */
export async function limits(bench: Bench): Promise<Row[]> {
  const { callers } = await bench.held();
  const bare = await bench.startPeer('echo-http');
  const side: Side = { servers: [bare], requests: () => texts(callers), status: '200' };
  const measured = await compare(bench, { baseline: echoed(bench, side), subject: side });
  await bare.stop();
  return [ratioRow(fastifyGroup, 'Bare node:http echo', measured)];
}
