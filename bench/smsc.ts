import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../test/support/eventually.ts';
import { freePort } from '../test/support/process.ts';
import type { Bench, Product } from './bench.ts';
import { nodeEnv } from './store.ts';

const built = (file: string) => fileURLToPath(new URL(`../dist/service/${file}`, import.meta.url));

/** A text as the SMSC got it. */
export interface ArrivedText {
  to: string;
  received_at: string;
}

export interface BenchSmsc {
  port: number;
  /** How many texts it has answered, in all. */
  arrived(): Promise<number>;
  /** How many receipts were acknowledged, in all. */
  receipts(): Promise<number>;
  /** The newest 10,000, newest first. */
  texts(): Promise<ArrivedText[]>;
  stop(): void;
}

/** The virtual SMSC of `npm run smsc`, in a process of its own. */
export async function startSmsc(bench: Bench): Promise<BenchSmsc> {
  const [port, pagePort] = [await freePort(), await freePort()];
  const given = ['smsc', '--port', String(port), '--page-port', String(pagePort)];
  const child = spawn(process.execPath, [built('smsc.js'), ...given], { stdio: 'ignore' });
  bench.atEnd(() => child.kill());
  const page = (path: string) => fetch(`http://127.0.0.1:${pagePort}${path}`);
  await eventually('the SMSC', async () => (await page('/state').catch(() => undefined)) !== undefined);
  const counts = async () => {
    const state = (await (await page('/state')).json()) as {
      counts: { accepted: number; receipts_acknowledged: number };
    };
    return state.counts;
  };
  return {
    port,
    arrived: async () => (await counts()).accepted,
    receipts: async () => (await counts()).receipts_acknowledged,
    texts: async () => ((await (await page('/texts?limit=10000')).json()) as { texts: ArrivedText[] }).texts,
    stop: () => void child.kill(),
  };
}

/** One carrier, the only one. */
export async function connectCarrier(bench: Bench, product: Product, given: object): Promise<void> {
  await connectCarriers(bench, product, new Map([['bench', given]]));
}

/** By the command that an operator uses. `bound`: how many of them can be reached. */
export async function connectCarriers(
  bench: Bench,
  { store }: Product,
  byName: ReadonlyMap<string, object>,
  bound = byName.size,
): Promise<void> {
  const file = join(bench.folder, 'carriers.json');
  const carriers = [...byName].map(([name, given]) => {
    const settings = { host: '127.0.0.1', system_id: name, password: 'secret', ...given };
    return { name, kind: 'smpp', settings };
  });
  writeFileSync(file, JSON.stringify({ carriers }));
  const applied = spawnSync(process.execPath, [built('main.js'), 'carriers', 'apply', file], {
    cwd: bench.folder,
    env: { PATH: process.env.PATH, ...nodeEnv(store, bench.folder) },
    encoding: 'utf8',
  });
  if (applied.status !== 0) throw new Error(`the carriers were refused: ${applied.stdout}${applied.stderr}`);
  await eventually('the binds', async () => {
    const { rows } = await store.database.query(`select from carrier_bind where state->>'state' = 'bound'`);
    return rows.length >= bound;
  });
}
