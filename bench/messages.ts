// Durable 201s against a bare Fastify that parses and echoes the same JSON: node --import tsx bench/messages.ts
// Through the full edge, in alternating rounds, load from a second process: once with delivery held, once with the
// delivery thread at work, where only what does not stay behind in the queue counts. Then, idle, how long a text takes
// from being accepted to the handset.
import { fork, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { createApp } from '../src/app.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { readConfig } from '../src/platform/config.ts';
import { createDatabase } from '../src/platform/database.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { openKeyRing } from '../src/platform/keys.ts';
import { createLog } from '../src/platform/log.ts';
import { migrate } from '../src/platform/migrate.ts';
import { type DeliveryThread, startDeliveryThread } from '../src/start-delivery-thread.ts';
import type { Job, Outcome } from './load.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const roundMs = Number(process.env.BENCH_ROUND_MS ?? 2000);
const warmUps = 2;
const connections = 64;

// A thread cannot be started from a source that is yet to be translated.
spawnSync(process.execPath, ['scripts/run.mjs', '--build-only'], { stdio: 'inherit' });
const thread = new URL('../dist/delivery-thread.js', import.meta.url);

const folder = mkdtempSync(join(tmpdir(), 'heliograph-bench-'));
chmodSync(folder, 0o711);
// Lines are written as in production, and go nowhere.
const log = createLog({ level: 'info', readable: false, to: { write: () => {} } });
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log });
const { connection } = postgres;
const database = createDatabase({ connection, log });
await migrate(database, clock, log);
const plans = JSON.stringify({ enterprise: { per_minute: 1_000_000, burst: 1_000_000 } });
const config = {
  ...readConfig({ HELIOGRAPH_SECRET: 'a secret for benchmarks', HELIOGRAPH_PLANS: plans }),
  port: 0,
  logLevel: 'warn',
};
const secret = config.secret ?? '';
const keys = await openKeyRing({ database, clock, secret });
let delivery: DeliveryThread | undefined;
const app = createApp({ config, clock, database, keys, log, version: '0.0.0', wakeDelivery: () => delivery?.wake() });
await app.start();
const bare = Fastify();
bare.post('*', async (request, reply) => reply.code(201).send(request.body));
await bare.listen({ port: 0, host: '127.0.0.1' });
const portOf = ({ server }: { server: { address(): unknown } }) => (server.address() as { port: number }).port;

const worker = fork(fileURLToPath(new URL('load.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
const load = (job: Job): Promise<Outcome> =>
  new Promise((resolve) => {
    worker.once('message', (outcome) => resolve(outcome as Outcome));
    worker.send(job);
  });

async function makeKey(): Promise<string> {
  await database.query("insert into account (id, email, created_at) values ('acc_bench', 'bench@example.com', now())");
  const { service } = app.registry;
  const { id } = await service.createApplication(database, 'acc_bench', 'Bench');
  const { credential } = await service.registerOwn('acc_bench', id, 'sms', 'enterprise');
  if (credential?.type !== 'api_key') throw new Error('no key');
  return credential.apiKey;
}
const apiKey = await makeKey();

const requests = Array.from({ length: 1000 }, (_, index) => {
  const to = `+4477009${String(index).padStart(5, '0')}`;
  const text = JSON.stringify({ to, from: 'ACME', message: 'Your table is booked for eight. See you tonight!' });
  const headers = `Host: bench\r\napikey: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`;
  return `POST /sms/v1/messages HTTP/1.1\r\n${headers}\r\n\r\n${text}`;
});

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Accepted, and not on a handset yet. */
async function backlog(): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::integer as count from message where carrier = 'sandbox' and due_at is not null and status = 'queued'`,
  );
  return rows[0]?.count ?? 0;
}

async function drain(): Promise<void> {
  while ((await backlog()) > 0) await new Promise((done) => setTimeout(done, 50));
}

interface Round {
  perSecond: number;
  cpuUs: number;
  medianMs: number;
}

async function measure(port: number): Promise<Round> {
  const before = process.cpuUsage();
  const { perSecond, answered, medianMs, statuses } = await load({ port, requests, connections, ms: roundMs });
  const { user, system } = process.cpuUsage(before);
  if (Object.keys(statuses).some((status) => status !== '201')) throw new Error(JSON.stringify(statuses));
  return { perSecond, cpuUs: (user + system) / answered, medianMs };
}

async function compare(name: string, delivering: boolean): Promise<void> {
  const [ratios, rates, costs, echoCosts, latencies]: number[][] = [[], [], [], [], []];
  for (let round = -warmUps; round < rounds; round++) {
    const echo = await measure(portOf(bare));
    const behindBefore = delivering ? await backlog() : 0;
    const real = await measure(portOf(app.server));
    const left = delivering ? ((await backlog()) - behindBefore) / (roundMs / 1000) : 0;
    if (delivering) await drain();
    if (round < 0) continue;
    ratios?.push((real.perSecond - left) / echo.perSecond);
    rates?.push(real.perSecond - left);
    costs?.push(real.cpuUs);
    echoCosts?.push(echo.cpuUs);
    latencies?.push(real.medianMs);
  }
  const [low, high] = [Math.min(...(ratios ?? [])), Math.max(...(ratios ?? []))];
  const line = [
    name.padEnd(24),
    `${median(ratios ?? []).toFixed(2)} of the echo (${low.toFixed(2)}–${high.toFixed(2)})`.padEnd(34),
    `${Math.round(median(rates ?? []))}/s`.padStart(8),
    `${Math.round(median(costs ?? []))} against ${Math.round(median(echoCosts ?? []))} µs of CPU`.padStart(28),
    `${median(latencies ?? []).toFixed(1)} ms to the answer`.padStart(24),
  ];
  console.log(line.join('  '));
}

/** From the moment a request was read to the moment its text is on the phone. */
async function measureIdle(texts: number): Promise<void> {
  await drain();
  const url = `http://127.0.0.1:${portOf(app.server)}/sms/v1/messages`;
  const headers = { apikey: apiKey, 'Content-Type': 'application/json' };
  const ids: string[] = [];
  for (let sent = 0; sent < texts; sent++) {
    const body = JSON.stringify({ to: '+447700900123', from: 'ACME', message: 'Hello' });
    const response = await fetch(url, { method: 'POST', headers, body });
    ids.push(((await response.json()) as { id: string }).id);
    await new Promise((done) => setTimeout(done, 50 + 50 * Math.random()));
  }
  await drain();
  const { rows } = await database.query<{ ms: number }>(
    `select extract(epoch from received_at - created_at)::float8 * 1000 as ms
     from handset_text join message m on m.id = message_id where message_id = any($1) order by ms`,
    [ids],
  );
  const at = (part: number) => (rows[Math.floor(rows.length * part)]?.ms ?? 0).toFixed(0);
  console.log(
    `accepted to handset, idle: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms (${rows.length} texts)`,
  );
}

try {
  await compare('delivery held', false);
  await database.query('truncate message');
  delivery = await startDeliveryThread({ config, connection, secret, readable: false }, log, () => {}, thread);
  await compare('sustained', true);
  await measureIdle(100);
} finally {
  worker.disconnect();
  await bare.close();
  await app.stop(1000);
  await delivery?.stop();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
