import type { Bench } from '../bench.ts';
import type { Side } from '../rounds.ts';

export const fastifyGroup = 'Against bare Fastify';

/** The same requests, to bare Fastify. */
export function echoed(bench: Bench, { requests }: Side): Side {
  return { servers: [bench.echo], requests, status: '200' };
}
