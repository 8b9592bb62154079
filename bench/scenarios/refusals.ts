import type { Bench } from '../bench.ts';
import { makeLimitedKey } from '../callers.ts';
import { byKey, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';
import { text } from './sms.ts';

/** What is refused: without a key, with one that is none, and far over the limit. The same text is sent each time. */
export async function refusals(bench: Bench): Promise<Row[]> {
  const { node, store } = await bench.held();
  const limited = await makeLimitedKey(store);
  const refuse = async (status: string, ...headers: string[]) => {
    const requests = many(1000, (index) =>
      post('/sms/v1/messages', { to: `+4477009${String(index).padStart(5, '0')}`, ...text }, ...headers),
    );
    const side: Side = { servers: [node], requests: () => requests, status };
    return compare(bench, { baseline: echoed(bench, side), subject: side });
  };
  return [
    ratioRow(fastifyGroup, '401, no key', await refuse('401'), 0.9),
    ratioRow(fastifyGroup, '401, a malformed key', await refuse('401', byKey('hg_sandbox_not_a_key')), 0.9),
    ratioRow(fastifyGroup, '429, far over the limit', await refuse('429', byKey(limited)), 0.9),
  ];
}
