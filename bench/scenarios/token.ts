import type { Bench } from '../bench.ts';
import { type Caller, tokenPath } from '../callers.ts';
import { postForm } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';

export function tokenRequests(path: string, callers: Caller[], scope: string): string[] {
  return callers.map(({ client }) => postForm(path, { grant_type: 'client_credentials', scope, ...client }));
}

/** A token, signed for each request. */
export async function token(bench: Bench): Promise<Row[]> {
  const { node, callers } = await bench.held();
  const request: Side = {
    servers: [node],
    requests: () => tokenRequests(tokenPath, callers, 'openid verify:manage'),
    status: '200',
  };
  const measured = await compare(bench, { baseline: echoed(bench, request), subject: request });
  return [ratioRow(fastifyGroup, 'Token request', measured)];
}
