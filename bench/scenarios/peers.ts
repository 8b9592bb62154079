import type { Bench } from '../bench.ts';
import { tokenPath } from '../callers.ts';
import { byKey, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { text, texts } from './sms.ts';
import { tokenRequests } from './token.ts';

const group = 'Against what one would use instead';

/** Each peer does what it is for, on the same machine in the same run. */
export async function peers(bench: Bench): Promise<Row[]> {
  return [await tokens(bench), await keyAndLimit(bench), await dayMade(bench)];
}

async function tokens(bench: Bench): Promise<Row> {
  const { node, callers } = await bench.held();
  const clients = JSON.stringify(callers.map(({ client }) => client));
  const peer = await bench.startPeer('oidc-provider', { CLIENTS: clients });
  const side = (server: typeof node, path: string, scope: string): Side => ({
    servers: [server],
    requests: () => tokenRequests(path, callers, scope),
    status: '200',
  });
  const measured = await compare(bench, {
    baseline: side(peer, '/token', 'verify:manage'),
    subject: side(node, tokenPath, 'openid verify:manage'),
  });
  await peer.stop();
  return ratioRow(group, 'Token, against oidc-provider (JWT)', measured, 4);
}

/** Ours also says how a text would be sent, which is the least that lies behind a key. */
async function keyAndLimit(bench: Bench): Promise<Row> {
  const { node, callers } = await bench.held();
  const peer = await bench.startPeer('key-and-limit', { KEYS: callers.map(({ apiKey }) => apiKey).join(',') });
  const requests = many(callers.length, (index) =>
    post('/sms/v1/messages/preview', { message: text.message }, byKey(callers[index]?.apiKey ?? '')),
  );
  const side = (server: typeof node): Side => ({ servers: [server], requests: () => requests, status: '200' });
  const measured = await compare(bench, { baseline: side(peer), subject: side(node) });
  await peer.stop();
  return ratioRow(group, 'Key and limit check, against @fastify/rate-limit', measured);
}

async function dayMade(bench: Bench): Promise<Row> {
  const { node, callers, store } = await bench.held();
  await store.empty();
  const keys = callers.map(({ apiKey }) => apiKey).join(',');
  const peer = await bench.startPeer('one-day-service', { KEYS: keys, DATABASE_URL: await bench.createDatabase() });
  const side = (server: typeof node): Side => ({ servers: [server], requests: () => texts(callers), status: '201' });
  const measured = await compare(bench, { baseline: side(peer), subject: side(node) });
  await peer.stop();
  await store.empty();
  return ratioRow(group, 'SMS accept, against one made in a day', measured, 2);
}
