import type { Bench, Product } from '../bench.ts';
import type { Caller } from '../callers.ts';
import { byKey, byToken, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import type { Store } from '../store.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';

export const text = { from: 'ACME', message: 'Your table is booked for eight. See you tonight!' };

export function texts(callers: Caller[]): string[] {
  return many(1000, (index) => {
    const to = `+4477009${String(index).padStart(5, '0')}`;
    return post('/sms/v1/messages', { to, ...text }, byKey(callers[index % callers.length]?.apiKey ?? ''));
  });
}

/** The same texts, a hundred in each request. */
export function batches(callers: Caller[]): string[] {
  return many(10, (batch) => {
    const messages = many(100, (index) => ({ to: `+4477009${String(batch * 100 + index).padStart(5, '0')}`, ...text }));
    const token = callers[batch % callers.length]?.messagingToken ?? '';
    return post('/messaging/v1/messages/batch', { messages }, byToken(token));
  });
}

/** The SMS accept: with the delivery thread at work, as a user starts the service, and with delivery held. */
export async function sms(bench: Bench): Promise<Row[]> {
  const { node, store, callers } = await bench.held();
  await store.empty();
  const accept: Side = { servers: [node], requests: () => texts(callers), status: '201' };
  const running = await sustained(bench);
  const held = await compare(bench, { baseline: echoed(bench, accept), subject: accept });
  await store.empty();
  return [running, ratioRow(fastifyGroup, 'SMS accept, delivery held', held, 0.65)];
}

async function sustained(bench: Bench): Promise<Row> {
  const product = await bench.startProduct({});
  const accept = deliveredTexts(product);
  const measured = await compare(bench, { baseline: echoed(bench, accept), subject: accept });
  await product.node.stop();
  return ratioRow(fastifyGroup, 'SMS accept, sustained', measured, 0.4);
}

/** Texts from their accept to the handset. */
export function deliveredTexts({ node, store, callers }: Product): Side {
  return {
    servers: [node],
    requests: () => texts(callers),
    status: '201',
    async leftBehind() {
      const left = await backlog(store);
      await drain(store);
      return left;
    },
  };
}

/** Accepted, and not on a handset yet. */
export async function backlog({ database }: Store): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select ((select count(*) from delivery_queue) + (select count(*) from delivery_schedule)
       + (select coalesce(sum(cardinality(message_ids)), 0) from delivery_claim))::integer as count`,
  );
  return rows[0]?.count ?? 0;
}

export async function drain(store: Store): Promise<void> {
  while ((await backlog(store)) > 0) await new Promise((done) => setTimeout(done, 50));
}
