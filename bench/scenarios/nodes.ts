import { startRedis } from '../../test/support/redis.ts';
import type { Bench } from '../bench.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import type { Server } from '../server-process.ts';
import { texts } from './sms.ts';

const group = 'Several nodes, against one alone';

/** What the shared windows cost, and what a second node brings: all of it on the cores of one machine. */
export async function nodes(bench: Bench): Promise<Row[]> {
  // As young as those it is held against.
  const alone = await bench.startProduct({ HELIOGRAPH_ROLE: 'web' });
  const redis = await startRedis();
  bench.atEnd(redis.stop);
  const env = { HELIOGRAPH_ROLE: 'web', REDIS_URL: redis.url };
  const shared = await bench.startProduct(env);
  await requireRedis(shared.node);
  const baseline: Side = { servers: [alone.node], requests: () => texts(alone.callers), status: '201' };
  const accept = (servers: Server[]): Side => ({ servers, requests: () => texts(shared.callers), status: '201' });

  const one = await compare(bench, { baseline, subject: accept([shared.node]) });
  const second = await bench.startNode(shared.store, env);
  await requireRedis(second);
  const two = await compare(bench, { baseline, subject: accept([shared.node, second]) });
  await Promise.all([alone.node.stop(), shared.node.stop(), second.stop()]);
  await redis.stop();
  return [ratioRow(group, 'One node with Redis', one), ratioRow(group, 'Two nodes with Redis', two)];
}

/** Without the shared windows each would decide by its own share, and nothing would be measured. */
async function requireRedis({ port }: Server): Promise<void> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  if (!metrics.includes('heliograph_window_store_in_use 1')) throw new Error('the node does not use Redis');
}
