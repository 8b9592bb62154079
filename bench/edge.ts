// What the edge costs: node --import tsx bench/edge.ts
// One route behind the full edge (by API key; by token, both warm) against the same route without it, in alternating
// rounds: as a route of Fastify alone, which is what one would have without the edge, and on our own server with an open
// gate, which shows what the edge itself takes. The ratio is that of the CPU a request takes, which a busy machine changes
// least. Then the same with a million keys in the database and a million addresses seen, and in a flood of credentials that
// are none. BENCH_SCALE=0.1 makes the large numbers smaller.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { createApp } from '../src/app.ts';
import { type Route, route } from '../src/http/route.ts';
import { createServer } from '../src/http/server.ts';
import { signAccessToken } from '../src/identity/access-token.ts';
import { createTokenChecksums } from '../src/identity/token-checksum.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { readConfig } from '../src/platform/config.ts';
import { createDatabase } from '../src/platform/database.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { openKeyRing } from '../src/platform/keys.ts';
import { createLog } from '../src/platform/log.ts';
import { createMetrics } from '../src/platform/metrics.ts';
import { migrate } from '../src/platform/migrate.ts';
import { randomBase62 } from '../src/platform/random.ts';
import { type Load, startLoad } from './load-process.ts';
import { get } from './requests.ts';
import { median } from './rounds.ts';

const scale = Number(process.env.BENCH_SCALE ?? 1);
const million = Math.round(1_000_000 * scale);
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const roundMs = 700;
const warmUpMs = 4000;
const callers = 1000;
const connections = 16;

const folder = mkdtempSync(join(tmpdir(), 'heliograph-bench-'));
chmodSync(folder, 0o711);
// Lines are written as in production, and go nowhere.
const log = createLog({ level: 'info', readable: false, to: { write: () => {} } });
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log });
const database = createDatabase({ connection: postgres.connection, log });
await migrate(database, clock, log);
const config = {
  ...readConfig({ HELIOGRAPH_SECRET: 'a secret for benchmarks', HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1' }),
  port: 0,
};
const keys = await openKeyRing({ database, clock, secret: config.secret ?? '' });

function benchRoute(path: string, auth: Route['auth']): Route {
  const handler = () => ({ status: 200, body: { ok: true } });
  return route({ method: 'GET', path, auth, tag: 'Bench', summary: 'For benchmarks', answers: {}, handler });
}
const app = createApp({
  config,
  clock,
  database,
  keys,
  log,
  version: '0.0.0',
  wakeDelivery: () => {},
  extraRoutes: [
    benchRoute('/sms/v1/bench', { kind: 'apikey' }),
    benchRoute('/verify/v1/bench', { kind: 'bearer', scope: 'verify:manage' }),
  ],
});
await app.start();
const bare = createServer({
  routes: [benchRoute('/sms/v1/bench', { kind: 'none' }), benchRoute('/verify/v1/bench', { kind: 'none' })],
  gate: { admit: () => ({ caller: { kind: 'anonymous' }, limitLines: '' }), linesForUnreadable: () => '' },
  clock,
  log,
  metrics: createMetrics(),
  trustedProxies: config.trustedProxies,
});
await bare.listen({ port: 0, host: '127.0.0.1' });
const fastify = Fastify();
for (const path of ['/sms/v1/bench', '/verify/v1/bench']) fastify.get(path, async () => ({ ok: true }));
await fastify.listen({ port: 0, host: '127.0.0.1' });
const portOf = ({ server }: { server: { address(): unknown } }) => (server.address() as { port: number }).port;

const loads = [startLoad(), startLoad()] as const;
const [load, flood] = loads.map(({ run }) => run) as [Load['run'], Load['run']];

/** The server on a core of its own and those who ask on the others: what they take from each other is not its cost. */
function keepApart(): void {
  const cores = cpus().length;
  if (cores < 2) return;
  const give = (pid: number | undefined, list: string) =>
    spawnSync('taskset', ['-acp', list, String(pid)]).status === 0;
  const apart = give(process.pid, '0') && loads.every(({ pid }) => give(pid, `1-${cores - 1}`));
  console.log(
    apart ? 'The server has a core of its own.' : 'Without taskset the server shares its cores with the load.',
  );
}

/** Many callers on the Enterprise plan, so that no single one comes near its limit. */
async function makeCallers(): Promise<{ keys: string[]; tokens: string[] }> {
  const now = new Date().toISOString();
  await database.query("insert into account (id, email, created_at) values ('acc_bench', 'bench@example.com', $1)", [
    now,
  ]);
  const [signer] = await app.signingKeys.load();
  if (signer === undefined) throw new Error('there is no signing key');
  const made = { keys: [] as string[], tokens: [] as string[] };
  const { service } = app.registry;
  for (let i = 0; i < callers; i++) {
    await database.transaction(async (tx) => {
      const { id } = await service.createApplication(tx, 'acc_bench', `Bench ${i}`);
      const { credential: key } = await service.register(tx, id, 'sms', 'enterprise');
      const { credential: client, registration } = await service.register(tx, id, 'verify', 'enterprise');
      if (key?.type !== 'api_key' || client?.type !== 'client') throw new Error('no credential');
      made.keys.push(key.apiKey);
      const token = await signAccessToken(signer, createTokenChecksums(keys), {
        issuer: `${config.publicUrl}/realms/${config.realm}`,
        clientId: client.clientId,
        api: 'verify',
        scope: 'verify:manage',
        jti: randomBytes(16).toString('base64url'),
        nowMs: clock.nowMs(),
        seconds: 86_400,
        registrationId: registration.id,
        credentialVersion: 1,
      });
      made.tokens.push(token);
    });
  }
  return made;
}

const made = await makeCallers();
const [edgePort, barePort, fastifyPort] = [portOf(app.server), portOf(bare), portOf(fastify)];
const byKey = made.keys.map((key) => get('/sms/v1/bench', `apikey: ${key}`));
const byToken = made.tokens.map((token) => get('/verify/v1/bench', `Authorization: Bearer ${token}`));

interface Round {
  perSecond: number;
  medianMs: number;
  /** Of this process, all its threads together. A busy machine makes a request wait, but hardly makes it more work. */
  cpuMicroseconds: number;
}

async function measure(port: number, requests: string[], ms = roundMs): Promise<Round> {
  let before = process.cpuUsage();
  const job = { ports: [port], requests, connections, ms };
  const { perSecond, worked, medianMs, statuses } = await load(job, async () => {
    before = process.cpuUsage();
  });
  const { user, system } = process.cpuUsage(before);
  const others = Object.keys(statuses).filter((status) => status !== '200');
  if (others.length > 0) throw new Error(`not only 200: ${JSON.stringify(statuses)}`);
  return { perSecond, medianMs, cpuMicroseconds: (user + system) / worked };
}

/** The medians over alternating rounds of what the edge leaves of the route's speed on Fastify, and on our own server. */
async function compare(what: string, requests: string[]): Promise<number> {
  const found: { edge: Round; own: Round; fastify: Round }[] = [];
  for (let round = 0; round < rounds; round++) {
    const [fastify, own] = [await measure(fastifyPort, requests), await measure(barePort, requests)];
    found.push({ fastify, own, edge: await measure(edgePort, requests) });
  }
  const middle = (of: (round: (typeof found)[number]) => number) => median(found.map(of));
  const against = (name: 'own' | 'fastify') =>
    middle(({ edge, [name]: other }) => other.cpuMicroseconds / edge.cpuMicroseconds);
  const throughput = middle(({ edge, fastify }) => edge.perSecond / fastify.perSecond);
  const cpu = (name: 'edge' | 'own' | 'fastify') =>
    middle(({ [name]: { cpuMicroseconds } }) => cpuMicroseconds).toFixed(0);
  const ratio = against('fastify');
  console.log(
    `${what.padEnd(36)} ${ratio.toFixed(2)} of Fastify alone (goal 0.85; by throughput ${throughput.toFixed(2)}), ` +
      `${against('own').toFixed(2)} of our own server without it; µs of CPU: ${cpu('edge')}, ${cpu('fastify')}, ${cpu('own')}`,
  );
  return ratio;
}

/** Every caller once, so that the edge remembers it, and then both servers until they are compiled. */
async function warmUp(): Promise<void> {
  for (const requests of [byKey, byToken]) {
    for (const port of [edgePort, barePort, fastifyPort, edgePort, barePort, fastifyPort]) {
      await load({ ports: [port], requests, connections: 4, ms: warmUpMs });
    }
  }
}

async function fillDatabase(): Promise<void> {
  const started = performance.now();
  for (let from = 0; from < million; from += 10_000) {
    await database.query(
      `insert into api_key (id, application_id, hash, ring_version, prefix, last_four, created_at)
       select 'key_fill' || i, (select id from application limit 1), sha256(i::text::bytea), 1, 'hg_sandbox_fill', 'fill', $3
       from generate_series($1::int, $2::int) i`,
      [from, Math.min(from + 10_000, million) - 1, new Date().toISOString()],
    );
  }
  console.log(`${million} keys more in the database (${((performance.now() - started) / 1000).toFixed(0)} s)`);
}

const addressOf = (index: number) => `X-Forwarded-For: 10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

async function seeAddresses(): Promise<void> {
  let seen = 0;
  const started = performance.now();
  while (seen < million) {
    const batch = Math.min(100_000, million - seen);
    const requests = Array.from({ length: batch }, (_, i) =>
      get('/verify/v1/bench', 'Authorization: Bearer a.b.c', addressOf(seen + i)),
    );
    // Until all of the batch has been sent, and a little over.
    for (let sent = 0; sent < batch; ) {
      const rest = requests.slice(sent);
      sent += (await load({ ports: [edgePort], requests: rest, connections: 64, ms: 2000 })).answered;
    }
    seen += batch;
  }
  console.log(`${seen} addresses seen (${((performance.now() - started) / 1000).toFixed(0)} s)`);
}

/** What a thousand other requests a second leave of the speed of callers who are known. */
async function compareBeside(what: string, requests: string[]): Promise<void> {
  const [throughput, latency, cost]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const alone = await measure(edgePort, byKey);
    const before = process.cpuUsage();
    const others = flood({ ports: [edgePort], requests, connections: 32, ms: roundMs, perSecond: 1000 });
    const beside = await load({ ports: [edgePort], requests: byKey, connections, ms: roundMs });
    const { worked } = await others;
    const { user, system } = process.cpuUsage(before);
    throughput.push(beside.perSecond / alone.perSecond);
    latency.push(beside.medianMs / alone.medianMs);
    cost.push((user + system - beside.worked * alone.cpuMicroseconds) / worked / alone.cpuMicroseconds);
  }
  const told = `throughput × ${median(throughput).toFixed(2)}, median latency × ${median(latency).toFixed(2)}`;
  console.log(`${what.padEnd(42)} one costs ${median(cost).toFixed(2)} admitted requests; 1,000/s beside: ${told}`);
}

try {
  keepApart();
  await warmUp();
  const key = await compare('API key', byKey);
  const token = await compare('token', byToken);

  await fillDatabase();
  await seeAddresses();
  await warmUp();
  const [largeKey, largeToken] = [await compare('API key, large', byKey), await compare('token, large', byToken)];
  console.log(
    `a million keys and addresses: API key × ${(largeKey / key).toFixed(3)}, token × ${(largeToken / token).toFixed(3)} (goal 0.9 to 1.1)`,
  );

  console.log('\nFloods');
  const [head = '', body = ''] = (made.tokens[0] ?? '').split('.');
  const many = <Value>(make: (index: number) => Value) => Array.from({ length: 20_000 }, (_, index) => make(index));
  await compareBeside(
    'random keys',
    many((i) => get('/sms/v1/bench', `apikey: ${randomBase62(50)}`, addressOf(i))),
  );
  await compareBeside(
    'keys of the right form',
    many((i) => get('/sms/v1/bench', `apikey: hg_sandbox_${randomBase62(32)}_${randomBase62(8)}`, addressOf(i))),
  );
  const forged = (i: number, said: string) =>
    get(
      '/verify/v1/bench',
      `Authorization: Bearer ${head}.${said}.${randomBytes(64).toString('base64url')}`,
      addressOf(i),
    );
  await compareBeside(
    'tokens that are made up',
    many((i) => {
      const said = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
      return forged(i, Buffer.from(JSON.stringify({ ...said, jti: String(i) })).toString('base64url'));
    }),
  );
  await compareBeside(
    'a live token under other signatures',
    many((i) => forged(i, body)),
  );
  await compareBeside('for comparison: tokens that are good', byToken);
} finally {
  for (const { stop } of loads) stop();
  await app.stop(1000);
  await bare.close();
  await fastify.close();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
