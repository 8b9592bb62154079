import { apiNames } from '../../src/http/route.ts';

import { fromUuid } from '../../src/platform/ids.ts';
import type { Bench, Product } from '../bench.ts';
import { byKey, byToken, get, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side, usualConnections } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';
import { text, texts } from './sms.ts';
import { starts } from './verify.ts';

const stored = 10_000;

/** One message, one verification, and a page of twenty out of many, all by callers the node remembers. */
export async function reads(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  const { node, store, callers } = product;
  await store.empty();
  const messages = await readRequests(bench, product, 'message', messagingTexts(product));
  const verifications = await readRequests(bench, product, 'verification', starts(product, stored));
  await put(bench, product, many(10, () => texts(callers)).flat());
  const lists = callers.map(({ apiKey }) => get('/sms/v1/messages?limit=20', byKey(apiKey)));

  const read = async (requests: string[]) => {
    const side: Side = { servers: [node], requests: () => requests, status: '200' };
    return compare(bench, { baseline: echoed(bench, side), subject: side });
  };
  const rows = [
    ratioRow(fastifyGroup, 'Read of a message, warm token', await read(messages), 0.75),
    ratioRow(fastifyGroup, 'Read of a verification, warm token', await read(verifications), 0.75),
    ratioRow(fastifyGroup, 'List page, 20 of many', await read(lists)),
  ];
  await store.empty();
  return rows;
}

/** Stores this many and reads them again, each by its owner. */
export async function readRequests(
  bench: Bench,
  product: Product,
  kind: 'message' | 'verification',
  made: string[],
): Promise<string[]> {
  await put(bench, product, made);
  const { rows } = await product.store.database.query<{ id: string; applicationId: string }>(
    `select id, application_id as "applicationId" from ${kind}
     ${kind === 'message' ? `where api = ${apiNames.indexOf('messaging')}` : ''} limit ${stored}`,
  );
  const callers = new Map(product.callers.map((caller) => [caller.applicationId, caller]));
  return rows.map(({ id, applicationId }) => {
    const caller = callers.get(fromUuid('app', applicationId));
    if (kind === 'message') {
      return get(`/messaging/v1/messages/${fromUuid('msg', id)}`, byToken(caller?.messagingToken ?? ''));
    }
    return get(`/verify/v1/verifications/${fromUuid('ver', id)}`, byToken(caller?.verifyToken ?? ''));
  });
}

export function messagingTexts({ callers }: Product): string[] {
  return many(stored, (index) => {
    const to = `+4477009${String(index).padStart(5, '0')}`;
    const token = callers[index % callers.length]?.messagingToken ?? '';
    return post('/messaging/v1/messages', { to, ...text }, byToken(token));
  });
}

async function put(bench: Bench, { node }: Product, requests: string[]): Promise<void> {
  await bench.load.run({ ports: [node.port], requests, connections: usualConnections, ms: 60_000, once: true });
}
