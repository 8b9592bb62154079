import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Product } from '../bench.ts';
import { makeLimitedKey, tokenPath } from '../callers.ts';
import { type Frame, flameGraph, type Profile, readProfile, selfTimes } from '../flame-graph.ts';
import { byKey, get, many, post } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { measure, type Side, warmUp } from '../rounds.ts';
import { resultsFolder } from '../write-results.ts';
import { messagingTexts, readRequests } from './reads.ts';
import { text, texts } from './sms.ts';
import { tokenRequests } from './token.ts';
import { checks, starts } from './verify.ts';

/** Where the time goes: a picture of the SMS accept, and for each path the functions that take most of it themselves. */
export async function flame(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  await product.store.empty();
  const parts: string[] = [];
  for (const [name, side] of await paths(bench, product)) {
    const profile = await take(bench, product, side);
    if (name === 'SMS accept') writeFileSync(`${resultsFolder}flame-sms.svg`, flameGraph(profile));
    parts.push(`## ${name}\n\n${selfTimes(profile, 20)}`);
    bench.say(parts.at(-1) ?? '');
  }
  await product.store.empty();
  writeFileSync(`${resultsFolder}profiles.md`, `# What takes its time itself\n\n${parts.join('\n')}`);
  bench.say('Written: bench/results/flame-sms.svg and profiles.md');
  return [];
}

async function take(bench: Bench, { node }: Product, side: Side): Promise<Frame> {
  await warmUp(bench, side);
  const file = join(bench.folder, 'taken.cpuprofile');
  // Requests that need others before them are made before the profile begins.
  const requests = await side.requests();
  await node.startProfile();
  await measure(bench, { ...side, requests: () => requests }, bench.pace.quick ? 2000 : 5000);
  await node.stopProfile(file);
  return readProfile(JSON.parse(readFileSync(file, 'utf8')) as Profile);
}

async function paths(bench: Bench, product: Product): Promise<[string, Side][]> {
  const { node, store, callers } = product;
  const enough = 8000 * (bench.pace.quick ? 2 : 5);
  const side = { servers: [node], status: '200' };
  const limited = await makeLimitedKey(store);
  const refused = many(1000, () => post('/sms/v1/messages', { to: '+447700900123', ...text }, byKey(limited)));
  const reads = await readRequests(bench, product, 'message', messagingTexts(product));
  const verifications = await readRequests(bench, product, 'verification', starts(product, 10_000));
  const lists = callers.map(({ apiKey }) => get('/sms/v1/messages?limit=20', byKey(apiKey)));
  return [
    ['SMS accept', { ...side, requests: () => texts(callers), status: '201' }],
    ['Verification start', { ...side, requests: () => starts(product, enough), once: true }],
    ['Verification check', { ...side, requests: () => checks(bench, product, enough / 4), once: true }],
    ['Token request', { ...side, requests: () => tokenRequests(tokenPath, callers, 'openid verify:manage') }],
    ['Read of a message', { ...side, requests: () => reads }],
    ['Read of a verification', { ...side, requests: () => verifications }],
    ['List page', { ...side, requests: () => lists }],
    ['429', { ...side, requests: () => refused, status: '429' }],
  ];
}
