import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/process.ts';
import type { Bench, Product } from '../bench.ts';
import { type Kannel, kannelText, startKannel } from '../kannel.ts';
import { many } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { nodeEnv } from '../store.ts';
import { echoed } from './against-fastify.ts';
import { backlog, drain, text, texts } from './sms.ts';

const group = 'HTTP in to SMPP out';
const built = (file: string) => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));

/** Texts that an SMSC has got over SMPP, by the service as a user starts it, and by Kannel if it is installed. */
export async function smpp(bench: Bench): Promise<Row[]> {
  const smscPort = await startSmsc(bench);
  const product = await bench.startProduct({});
  await connect(bench, product, smscPort);
  const ours: Side = {
    servers: [product.node],
    requests: () => texts(product.callers),
    status: '201',
    async leftBehind() {
      const left = await backlog(product.store);
      await drain(product.store);
      return left;
    },
  };
  const rows = [
    ratioRow(group, 'Against bare Fastify', await compare(bench, { baseline: echoed(bench, ours), subject: ours })),
  ];
  const kannel = await startKannel(bench.folder, smscPort);
  if (kannel === undefined) bench.say('         Kannel is not installed (Debian: kannel), so it is left out');
  else {
    bench.atEnd(kannel.stop);
    const measured = await compare(bench, { baseline: kannelSide(kannel), subject: ours });
    bench.say(`         Kannel: ${Math.round(measured.baseline.perSecond)} a second`);
    rows.push(ratioRow(group, 'Against Kannel, which keeps texts in memory', measured));
    await kannel.stop();
  }
  await product.node.stop();
  return rows;
}

function kannelSide(kannel: Kannel): Side {
  const requests = many(1000, (index) =>
    kannelText(`+4477009${String(index).padStart(5, '0')}`, text.from, text.message),
  );
  return {
    servers: [kannel],
    requests: () => requests,
    status: '202',
    async leftBehind() {
      const left = await kannel.queued();
      while ((await kannel.queued()) > 0) await new Promise((done) => setTimeout(done, 50));
      return left;
    },
  };
}

/** The virtual SMSC of `npm run smsc`, in a process of its own. */
async function startSmsc(bench: Bench): Promise<number> {
  const [port, pagePort] = [await freePort(), await freePort()];
  const given = ['smsc', '--port', String(port), '--page-port', String(pagePort)];
  const child = spawn(process.execPath, [built('smsc/main.js'), ...given], { stdio: 'ignore' });
  bench.atEnd(() => child.kill());
  await until('the SMSC', async () => (await state(pagePort)) !== undefined);
  return port;

  async function state(page: number): Promise<Response | undefined> {
    return fetch(`http://127.0.0.1:${page}/state`).catch(() => undefined);
  }
}

/** By the command that an operator uses. */
async function connect(bench: Bench, { store }: Product, port: number): Promise<void> {
  const file = join(bench.folder, 'carriers.json');
  const settings = { host: '127.0.0.1', port, system_id: 'bench', password: 'secret' };
  writeFileSync(file, JSON.stringify({ carriers: [{ name: 'bench', kind: 'smpp', settings }] }));
  const applied = spawnSync(process.execPath, [built('main.js'), 'carriers', 'apply', file], {
    cwd: bench.folder,
    env: { PATH: process.env.PATH, ...nodeEnv(store, bench.folder) },
    encoding: 'utf8',
  });
  if (applied.status !== 0) throw new Error(`the carrier was refused: ${applied.stdout}${applied.stderr}`);
  await until('the bind', async () => {
    const { rows } = await store.database.query(`select from carrier_bind where state->>'state' = 'bound'`);
    return rows.length > 0;
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
