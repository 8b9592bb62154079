import { systemClock as clock } from '../../src/platform/clock.ts';
import { createSmppAccounts } from '../../src/smpp-server/account-service.ts';
import { createSmppCredentials } from '../../src/smpp-server/credentials.ts';
import { freePort } from '../../test/support/process.ts';
import type { Bench, Product } from '../bench.ts';
import { makeAccount } from '../callers.ts';
import type { Row } from '../result-row.ts';
import { measure, median, type Side, type Speed, spreadOf } from '../rounds.ts';
import type { Server } from '../server-process.ts';
import { openBind, type SmppBind } from '../smpp-load.ts';
import { batches, text } from './sms.ts';

const group = 'SMPP in';
const window = 100;
const [accountsOfIdle, bindsOfIdle] = [20, 50];

interface Account {
  systemId: string;
  password: string;
}

/** One bind that submits with a window of 100: against a relay that keeps texts in memory, and against HTTP. */
export async function smppServer(bench: Bench): Promise<Row[]> {
  const port = await freePort();
  const product = await bench.startProduct({ HELIOGRAPH_ROLE: 'web', HELIOGRAPH_SMPP_PORT: String(port) });
  const accounts = await makeAccounts(product, accountsOfIdle);
  const [own] = accounts;
  if (own === undefined) throw new Error('no account was made');
  const idle = await measureIdle(bench, product, port, accounts);
  const relayPort = await freePort();
  const relay = await bench.startPeer('relay-npm-smpp', { SMPP_PORT: String(relayPort) });
  const binds = {
    ours: await openBind(port, own, text),
    relay: await openBind(relayPort, { systemId: 'bench', password: 'bench' }, text),
  };
  const rows = [...(await against(bench, product, relay, binds)), ...idle];
  for (const bind of Object.values(binds)) bind.close();
  await relay.stop();
  await product.node.stop();
  return rows;
}

async function makeAccounts({ store, callers }: Product, count: number): Promise<Account[]> {
  const { service } = store.registry;
  const accounts = createSmppAccounts({
    ...{ database: store.database, clock, credentials: createSmppCredentials(store.keys) },
    change: service.changeOwn,
    requireOwn: service.requireOwn,
  });
  const accountId = await makeAccount(store);
  const made: Account[] = [];
  for (let index = 0; index < count; index++) {
    const applicationId = callers[index % callers.length]?.applicationId ?? '';
    const { systemId, password } = await accounts.create(
      { accountId, applicationId },
      { binds: bindsOfIdle, addresses: [] },
    );
    made.push({ systemId, password });
  }
  return made;
}

/** For one submit: of the service's or the relay's process, and of Postgres, which the relay does not have. */
interface Figures {
  perSecond: number;
  cpuMicroseconds: number;
  postgresMicroseconds: number;
}

async function against(
  bench: Bench,
  { node, store, callers }: Product,
  relay: Server,
  binds: Record<'ours' | 'relay', SmppBind>,
): Promise<Row[]> {
  const { rounds, roundMs, warmUp } = bench.pace;
  // As many texts are on their way: one connection, a hundred texts in each request.
  const http: Side = {
    servers: [node],
    requests: () => batches(callers),
    status: '200',
    connections: 1,
    textsPerRequest: 100,
  };
  const ours: Figures[] = [];
  const theirs: Figures[] = [];
  const byHttp: Speed[] = [];
  for (let round = -warmUp.rounds; round < rounds; round++) {
    const found = [
      await submit(bench, node, binds.ours, roundMs),
      await submit(bench, relay, binds.relay, roundMs),
    ] as const;
    const batched = await measure(bench, http, roundMs);
    await store.empty();
    if (round < 0) continue;
    ours.push(found[0]);
    theirs.push(found[1]);
    byHttp.push(batched);
  }
  const ratio = (of: (index: number) => number) => spreadOf(ours.map((_, index) => of(index)));
  const shown = {
    perSecond: median(ours.map(({ perSecond }) => perSecond)),
    cpuMicroseconds: median(ours.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    postgresMicroseconds: median(ours.map(({ postgresMicroseconds }) => postgresMicroseconds)),
  };
  const cpuOf = (all: Figures[], index: number) => all[index]?.cpuMicroseconds ?? 0;
  return [
    {
      ...{
        group,
        name: 'One bind, window 100, by CPU of its process, against an in-memory relay (npm smpp)',
        unit: 'ratio',
        ...shown,
      },
      value: ratio((index) => cpuOf(theirs, index) / cpuOf(ours, index)),
      goal: { atLeast: 1 },
    },
    {
      ...{ group, name: 'The same by rate against the same texts by HTTP, a hundred in a request', unit: 'ratio' },
      value: ratio((index) => (ours[index]?.perSecond ?? 0) / (byHttp[index]?.perSecond ?? 1)),
      perSecond: shown.perSecond,
      goal: { atLeast: 0.8 },
    },
    {
      ...{ group, name: 'The relay itself', unit: '/s' },
      value: spreadOf(theirs.map(({ perSecond }) => perSecond)),
      cpuMicroseconds: median(theirs.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    },
  ];
}

async function submit(bench: Bench, server: Server, bind: SmppBind, ms: number): Promise<Figures> {
  const before = { process: await server.cpuMicroseconds(), postgres: bench.postgresMicroseconds() };
  const { answered, elapsedMs } = await bind.submit(window, ms);
  const used = (await server.cpuMicroseconds()) - before.process;
  const postgres = bench.postgresMicroseconds() - before.postgres;
  return {
    perSecond: (answered * 1000) / elapsedMs,
    cpuMicroseconds: used / answered,
    postgresMicroseconds: postgres / answered,
  };
}

/** What a thousand programs cost that are bound and send nothing. */
async function measureIdle(bench: Bench, { node }: Product, port: number, accounts: Account[]): Promise<Row[]> {
  const restMs = bench.pace.quick ? 20_000 : 60_000;
  await pause(15_000);
  const usedBefore = await used(bench, node, restMs);
  const memoryBefore = (await node.memory()).rss;
  const binds: SmppBind[] = [];
  for (const account of accounts)
    binds.push(...(await Promise.all(Array.from({ length: bindsOfIdle }, () => openBind(port, account, text)))));
  await pause(15_000);
  const usedAfter = await used(bench, node, restMs);
  const kilobytes = ((await node.memory()).rss - memoryBefore) / 1024;
  for (const bind of binds) bind.close();
  const one = (value: number) => ({ median: value, low: value, high: value });
  const name = `${binds.length} idle binds`;
  return [
    { group, name: `${name}: memory`, unit: 'kB', value: one(kilobytes), goal: { below: 20 * 1024 } },
    {
      ...{ group, name: `${name}: of one core, with Postgres`, unit: '%' },
      value: one(Math.max(0, usedAfter - usedBefore)),
      goal: { below: 1 },
    },
  ];
}

/** Of one core, in percent. */
async function used(bench: Bench, node: Server, ms: number): Promise<number> {
  const before = (await node.cpuMicroseconds()) + bench.postgresMicroseconds();
  await pause(ms);
  return ((await node.cpuMicroseconds()) + bench.postgresMicroseconds() - before) / ms / 10;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
