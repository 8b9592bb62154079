import type { Bench, Product } from '../bench.ts';
import { makeLimitedKey, tokenPath } from '../callers.ts';
import { byKey, get, many, post } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { measure, type Side, warmUp } from '../rounds.ts';
import { resultsFolder } from '../write-results.ts';
import { hookCalls, makeHooks, newCode } from './hooks.ts';
import { messagingTexts, readRequests } from './reads.ts';
import { text, texts } from './sms.ts';
import { tokenRequests } from './token.ts';
import { checks, starts } from './verify.ts';

/** Writes a CPU profile of each path, which Chrome and speedscope open. */
export async function profile(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  await product.store.empty();
  for (const [name, side] of await paths(bench, product)) {
    const file = `${name.toLowerCase().replaceAll(' ', '-')}.cpuprofile`;
    await take(bench, product, side, resultsFolder + file);
    bench.say(`Written: bench/results/${file}`);
  }
  await product.store.empty();
  return [];
}

async function take(bench: Bench, { node }: Product, side: Side, file: string): Promise<void> {
  await warmUp(bench, side);
  // Requests that need others before them are made before the profile begins.
  const requests = await side.requests();
  await node.startProfile();
  await measure(bench, { ...side, requests: () => requests }, bench.pace.quick ? 2000 : 5000);
  await node.stopProfile(file);
}

async function paths(bench: Bench, product: Product): Promise<[string, Side][]> {
  const { node, store, callers } = product;
  const enough = 8000 * (bench.pace.quick ? 2 : 5);
  const side = { servers: [node], status: '200' };
  const limited = await makeLimitedKey(store);
  const refused = many(1000, () => post('/sms/v1/messages', { to: '+447700900123', ...text }, byKey(limited)));
  const reads = await readRequests(bench, product, 'message', messagingTexts(product));
  const verifications = await readRequests(bench, product, 'verification', starts(product, 10_000));
  const hooks = await makeHooks(product);
  const lists = callers.map(({ apiKey }) => get('/sms/v1/messages?limit=20', byKey(apiKey)));
  return [
    ['SMS accept', { ...side, requests: () => texts(callers), status: '201' }],
    ['Verification start', { ...side, requests: () => starts(product, enough), once: true }],
    ['Start with a code', { ...side, requests: () => starts(product, enough, newCode), once: true }],
    ['Code of a hook', { ...side, requests: () => hookCalls(hooks, enough), once: true }],
    ['Verification check', { ...side, requests: () => checks(bench, product, enough / 4), once: true }],
    ['Token request', { ...side, requests: () => tokenRequests(tokenPath, callers, 'openid verify:manage') }],
    ['Read of a message', { ...side, requests: () => reads }],
    ['Read of a verification', { ...side, requests: () => verifications }],
    ['List page', { ...side, requests: () => lists }],
    ['429', { ...side, requests: () => refused, status: '429' }],
  ];
}
