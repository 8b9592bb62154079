// Verifications against a bare Fastify that parses and echoes the same JSON: node --import tsx bench/verify.ts
// Starts (each a new number) and checks through the full edge, durable, delivery held; alternating rounds, load from a
// second process. The ratio is of requests a second; the spread is over the rounds.
import { fork } from 'node:child_process';
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
import type { Job, Outcome } from './load.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const roundMs = 1000;
const connections = 32;

const folder = mkdtempSync(join(tmpdir(), 'heliograph-bench-'));
chmodSync(folder, 0o711);
// Lines are written as in production, and go nowhere.
const log = createLog({ level: 'info', readable: false, to: { write: () => {} } });
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log });
const database = createDatabase({ connection: postgres.connection, log });
await migrate(database, clock, log);
const plans = JSON.stringify({ enterprise: { per_minute: 1_000_000, burst: 1_000_000 } });
const config = { ...readConfig({ HELIOGRAPH_SECRET: 'a secret for benchmarks', HELIOGRAPH_PLANS: plans }), port: 0 };
const keys = await openKeyRing({ database, clock, secret: config.secret ?? '' });
const app = createApp({ config, clock, database, keys, log, version: '0.0.0', wakeDelivery: () => {} });
await app.start();
const bare = Fastify();
bare.post('*', async (request) => request.body);
await bare.listen({ port: 0, host: '127.0.0.1' });
const portOf = ({ server }: { server: { address(): unknown } }) => (server.address() as { port: number }).port;

const worker = fork(fileURLToPath(new URL('load.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
const load = (job: Job): Promise<Outcome> =>
  new Promise((resolve) => {
    worker.once('message', (outcome) => resolve(outcome as Outcome));
    worker.send(job);
  });

async function getToken(): Promise<string> {
  await database.query("insert into account (id, email, created_at) values ('acc_bench', 'bench@example.com', now())");
  const { service } = app.registry;
  const { id } = await service.createApplication(database, 'acc_bench', 'Bench');
  const { credential } = await service.registerOwn('acc_bench', id, 'verify', 'enterprise');
  if (credential?.type !== 'client') throw new Error('no client');
  const { clientId: client_id, clientSecret: client_secret } = credential;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'openid verify:manage' };
  const url = `http://127.0.0.1:${portOf(app.server)}/realms/${config.realm}/protocol/openid-connect/token`;
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return ((await response.json()) as { access_token: string }).access_token;
}
const token = await getToken();

function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = `Host: bench\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

let numbers = 0;
const starts = () =>
  Array.from({ length: 20_000 }, () =>
    post('/verify/v1/verifications', { to: `+447${String(numbers++).padStart(9, '0')}`, channel: 'sms' }),
  );

/** Wrong codes for verifications that are open, three for each: a check that decides, every one of them. */
async function checks(): Promise<string[]> {
  await load({ port: portOf(app.server), requests: starts(), connections, ms: 1500 });
  const { rows } = await database.query<{ id: string }>(
    `select id from verification where status = 'pending' and attempts = 0 order by id desc limit 5000`,
  );
  const requests = rows.map(({ id }) => post(`/verify/v1/verifications/${id}`, { code: '000000' }));
  return [...requests, ...requests, ...requests];
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

async function compare(name: string, requestsFor: () => string[] | Promise<string[]>): Promise<void> {
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const requests = await requestsFor();
    const shared = { requests, connections, ms: roundMs };
    const echo = await load({ port: portOf(bare), ...shared });
    const real = await load({ port: portOf(app.server), ...shared });
    if (Object.keys(real.statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(real.statuses));
    // The first round warms both up.
    if (round === 0) continue;
    ratios.push(real.perSecond / echo.perSecond);
    rates.push(real.perSecond);
  }
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `${name.padEnd(28)} ${median(ratios).toFixed(2)} of the echo (${spread}), ${Math.round(median(rates))}/s`,
  );
}

await compare('start, a new number each', starts);
await compare('check, a wrong code', checks);

worker.disconnect();
await bare.close();
await app.stop(1000);
await database.close();
await postgres.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(0);
