import type { Bench, Product } from '../bench.ts';
import { many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { text, texts } from './sms.ts';

const group = 'The plain lane, against Node reading every request';

/** What reading requests ourselves earns. Both write the answers of one turn together, so only reading and framing differ. */
export async function lanes(bench: Bench): Promise<Row[]> {
  const env = { HELIOGRAPH_ROLE: 'web' };
  const plain = await bench.startProduct({ ...env, HELIOGRAPH_HTTP_LANE: 'plain' });
  const node = await bench.startProduct({ ...env, HELIOGRAPH_HTTP_LANE: 'node' });
  const accept = ({ node: server, callers }: Product): Side => ({
    servers: [server],
    requests: () => texts(callers),
    status: '201',
  });
  const refused = many(1000, () => post('/sms/v1/messages', { to: '+447700900123', ...text }));
  const refuse = ({ node: server }: Product): Side => ({ servers: [server], requests: () => refused, status: '401' });
  const refusing = await compare(bench, { baseline: refuse(node), subject: refuse(plain) });
  const accepting = await compare(bench, { baseline: accept(node), subject: accept(plain) });
  await Promise.all([plain.node.stop(), node.node.stop()]);
  return [ratioRow(group, '401, no key', refusing), ratioRow(group, 'SMS accept, delivery held', accepting)];
}
