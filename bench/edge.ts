// What the edge costs: node --import tsx bench/edge.ts
// One route behind the edge (by API key; by token, both warm) against the same route without it, in alternating rounds: on
// our own server with an open gateway, which shows what the edge itself takes, and as a route of Fastify alone, which is what
// one would have instead. All are sent the same number of requests a second, because what a request costs depends on how
// many come at once, and the ratio is that of the CPU a request takes, which a busy machine changes least; that of the
// requests answered when callers ask as fast as they can is printed beside it. "Alone" is the edge that identifies, limits
// and says so; "all of it" also counts usage and notes what became of the request.
// Then the same with a million keys in the database and a million addresses seen, and in floods of credentials that are
// none. BENCH_SCALE=0.1 makes the large numbers smaller.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { createApp } from '../src/app.ts';
import { createAddressLimits } from '../src/edge/address-limits.ts';
import { createAddressWindows } from '../src/edge/address-windows.ts';
import { createApplicationAccess } from '../src/edge/application-access.ts';
import { createGateway } from '../src/edge/gateway.ts';
import { createMemoryWindows } from '../src/edge/memory-windows.ts';
import type { Admission, Gateway, LimitDecision } from '../src/http/admission.ts';
import { type Route, route } from '../src/http/route.ts';
import { createServer } from '../src/http/server.ts';
import { createTokenGrant, tokenType, writeAccessToken } from '../src/identity/access-token.ts';
import { signJwsInPool } from '../src/identity/sign-jws.ts';
import { createTokenChecksums } from '../src/identity/token-checksum.ts';
import { createTokenVerifier } from '../src/identity/token-verifier.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { openKeyRing } from '../src/platform/crypto/open-key-ring.ts';
import { randomBase62 } from '../src/platform/crypto/random.ts';
import { createDatabase } from '../src/platform/database/database.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { createLog } from '../src/platform/log.ts';
import { createMetrics } from '../src/platform/metrics/metrics.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import { readConfig } from '../src/settings/settings.ts';
import type { Job, Outcome } from './load-generator.ts';
import { startLoad } from './load-process.ts';
import { get } from './requests.ts';
import { median } from './rounds.ts';

const scale = Number(process.env.BENCH_SCALE ?? 1);
const million = Math.round(1_000_000 * scale);
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const roundMs = 1000;
/** Half of what the slowest of them can take. */
const perSecond = 6000;
/** What a flood sends. */
const floodPerSecond = 1000;
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
const benchRoutes = [
  benchRoute('/sms/v1/bench', { kind: 'apikey' }),
  benchRoute('/verify/v1/bench', { kind: 'bearer', scope: 'verify:manage' }),
];
const app = createApp({
  config,
  clock,
  database,
  sideDatabase: database,
  keys,
  log,
  version: '0.0.0',
  wakeDelivery: () => {},
  extraRoutes: benchRoutes,
});
await app.start();
const openDecision: LimitDecision = {
  admitted: true,
  limits: { perMinute: 1, burst: 1 },
  remaining: 1,
  resetMs: 60_000,
  nextFreeMs: 0,
  retryAfterMs: 0,
  refusedBy: undefined,
  chargedAtMs: undefined,
};
const open: Admission = { caller: { kind: 'anonymous' }, decision: openDecision, counted: false, refusal: undefined };
const openGateway: Gateway = { admit: () => open, giveBack: () => openDecision, peek: () => openDecision };
const bare = createServer({
  routes: [benchRoute('/sms/v1/bench', { kind: 'none' }), benchRoute('/verify/v1/bench', { kind: 'none' })],
  gateway: openGateway,
  clock,
  log,
  metrics: createMetrics(),
  trustedProxies: config.trustedProxies,
});
await bare.listen({ port: 0, host: '127.0.0.1' });
/** The app's own edge, without metering. */
const verifier = createTokenVerifier({
  database,
  clock,
  directory: app.registry.directory,
  clients: app.registry.clients,
  feed: app.registry.feed,
  signingKeys: app.signingKeys,
  checksums: createTokenChecksums(keys),
  issuer: `${config.publicUrl}/realms/${config.realm}`,
});
const addresses = createAddressLimits(createAddressWindows({ clock }), config.addressLimits);
const edgeAlone = createServer({
  routes: benchRoutes,
  gateway: createGateway({
    applications: createApplicationAccess({
      keys: app.registry.keyLookup,
      tokens: verifier,
      sids: { sms: app.registry.keyLookup, verify: app.registry.keyLookup },
      registrations: createMemoryWindows({ clock }),
      addresses,
    }),
    findSession: async () => undefined,
    findOwnCaller: async () => Promise.reject(new Error('not asked for')),
    findOpenSessions: async () => [],
    sessionCookie: 'none',
    attemptCookie: 'attempt',
    addresses,
    identityAddresses: addresses,
    apis: [],
    metrics: { token: undefined, openToLoopback: true },
    operatorsNeedSecondFactor: false,
    publicUrl: config.publicUrl,
  }),
  clock,
  log,
  metrics: createMetrics(),
  trustedProxies: config.trustedProxies,
});
await edgeAlone.listen({ port: 0, host: '127.0.0.1' });
const fastify = Fastify();
for (const path of ['/sms/v1/bench', '/verify/v1/bench']) fastify.get(path, async () => ({ ok: true }));
await fastify.listen({ port: 0, host: '127.0.0.1' });
const portOf = (at: { listener: Server } | { server: Server }) =>
  (('listener' in at ? at.listener : at.server).address() as AddressInfo).port;

const asking = startLoad();
const load = asking.run;

/** The server on a core of its own, and on the others those who ask and Postgres: what they take is not its cost. */
async function keepApart(): Promise<void> {
  const cores = cpus().length;
  const give = (pid: number | undefined, list: string) =>
    spawnSync('taskset', ['-acp', list, String(pid)]).status === 0;
  const { rows } = await database.query<{ pid: number }>('select pid from pg_stat_activity');
  const others = [asking.pid, ...rows.map(({ pid }) => pid)];
  const apart = cores > 1 && give(process.pid, '0') && others.every((pid) => give(pid, `1-${cores - 1}`));
  console.log(apart ? 'The server has a core of its own.' : 'The server shares its cores with the load (no taskset).');
}

/** Many callers on the Enterprise plan, so that no single one comes near its limit. */
async function makeCallers(): Promise<{ keys: string[]; tokens: string[] }> {
  const now = new Date().toISOString();
  await database.query("insert into account (id, name, created_at) values ('acc_bench', 'bench@example.com', $1)", [
    now,
  ]);
  const [signer] = await app.signingKeys.load();
  if (signer === undefined) throw new Error('there is no signing key');
  const checksums = createTokenChecksums(keys);
  const made = { keys: [] as string[], tokens: [] as string[] };
  const { service } = app.registry;
  for (let i = 0; i < callers; i++) {
    await database.transaction(async (tx) => {
      const { id } = await service.createApplication(tx, 'acc_bench', `Bench ${i}`);
      const { credential: key } = await service.register(tx, id, 'sms', 'enterprise');
      const { credential: client, registration } = await service.register(tx, id, 'verify', 'enterprise');
      if (key?.type !== 'api_key' || client?.type !== 'client') throw new Error('no credential');
      made.keys.push(key.apiKey);
      const issuer = `${config.publicUrl}/realms/${config.realm}`;
      const owner = { clientId: client.clientId, registrationId: registration.id, credentialVersion: 1 };
      const claims = writeAccessToken(createTokenGrant(issuer, 'verify', 'verify:manage', owner), checksums, {
        jti: randomBytes(16).toString('base64url'),
        nowMs: clock.nowMs(),
        seconds: 86_400,
      });
      made.tokens.push(await signJwsInPool(signer, tokenType, claims));
    });
  }
  return made;
}

const made = await makeCallers();
const servers = { edge: app.server, alone: edgeAlone, own: bare, fastify };
type Name = keyof typeof servers;
const names = Object.keys(servers) as Name[];
const byKey = made.keys.map((key) => get('/sms/v1/bench', `apikey: ${key}`));
const byToken = made.tokens.map((token) => get('/verify/v1/bench', `Authorization: Bearer ${token}`));

/** The CPU of this process, all its threads together, for each request it has worked for. */
async function cpuOf(name: Name, requests: string[], rate: number): Promise<number> {
  let before = process.cpuUsage();
  const job = { ports: [portOf(servers[name])], requests, connections, ms: roundMs, perSecond: rate };
  const { worked } = await load(job, async () => {
    before = process.cpuUsage();
  });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / worked;
}

async function speedOf(name: Name, requests: string[], options: Partial<Job> = {}): Promise<Outcome> {
  const outcome = await load({ ports: [portOf(servers[name])], requests, connections, ms: roundMs, ...options });
  const others = Object.keys(outcome.statuses).filter((status) => status !== '200');
  if (others.length > 0) throw new Error(`not only 200: ${JSON.stringify(outcome.statuses)}`);
  return outcome;
}

/** Of what the others give, in the same round. */
async function compare(what: string, requests: string[]): Promise<number> {
  const [cpu, speed]: Record<Name, number>[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [costs, speeds] = [{} as Record<Name, number>, {} as Record<Name, number>];
    for (const name of names) costs[name] = await cpuOf(name, requests, perSecond);
    for (const name of names) speeds[name] = (await speedOf(name, requests)).perSecond;
    cpu?.push(costs);
    speed?.push(speeds);
  }
  const middle = (list: Record<Name, number>[] | undefined, of: (round: Record<Name, number>) => number) =>
    median((list ?? []).map(of)).toFixed(2);
  const row = (label: string, behind: Name, without: Name) =>
    `  ${label.padEnd(44)} ${middle(cpu, (round) => round[without] / round[behind])} by CPU, ` +
    `${middle(speed, (round) => round[behind] / round[without])} by requests answered`;
  console.log(`${what}: µs of CPU ${names.map((name) => `${name} ${middle(cpu, (round) => round[name])}`).join(', ')}`);
  console.log(row('the edge alone, of our own server (goal 0.85)', 'alone', 'own'));
  console.log(row('all of it, of our own server', 'edge', 'own'));
  console.log(row('all of it, of Fastify alone', 'edge', 'fastify'));
  return Number(middle(cpu, ({ edge, own }) => own / edge));
}

/** Every caller once, so that the edge remembers it, and then all servers until they are compiled. */
async function warmUp(): Promise<void> {
  for (const requests of [byKey, byToken]) {
    for (const name of [...names, ...names]) {
      await load({ ports: [portOf(servers[name])], requests, connections: 4, ms: warmUpMs });
    }
  }
}

async function fillDatabase(): Promise<void> {
  const started = performance.now();
  for (let from = 0; from < million; from += 10_000) {
    await database.query(
      `insert into api_key (id, application_id, hash, prefix, last_four, created_at)
       select 'key_fill' || i, (select id from application limit 1), sha256(i::text::bytea), 'hg_sandbox_fill', 'fill', $3
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
      sent += (await load({ ports: [portOf(servers.edge)], requests: rest, connections: 64, ms: 2000 })).answered;
    }
    seen += batch;
  }
  console.log(`${seen} addresses seen (${((performance.now() - started) / 1000).toFixed(0)} s)`);
}

/**
 * What a flood costs, and what it leaves of the speed of callers who are known and ask as fast as they can. By the edge alone:
 * so fast, requests are noted until there is no room for more, and then not, which is a difference of its own.
 */
async function compareBeside(what: string, requests: string[]): Promise<void> {
  const [left, latency, cost]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    // So that it is the server that has no time to spare, and not those who ask.
    const together = 8;
    const alone = await speedOf('alone', byKey, { together });
    const flood = { requests, connections: 32, perSecond: floodPerSecond };
    const beside = await speedOf('alone', byKey, { together, beside: flood });
    left.push(beside.perSecond / alone.perSecond);
    latency.push(beside.medianMs / alone.medianMs);
    const admitted = await cpuOf('alone', byKey, perSecond / 2);
    cost.push((await cpuOf('alone', requests, perSecond / 2)) / admitted);
  }
  console.log(
    `${what.padEnd(42)} ${median(left).toFixed(2)} of the requests answered, median latency × ${median(latency).toFixed(2)}; ` +
      `one costs ${median(cost).toFixed(2)} of an admitted one`,
  );
}

async function floods(): Promise<void> {
  console.log(`\nFloods of ${floodPerSecond} a second leave to callers who are known (goal 0.80)`);
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
}

try {
  await keepApart();
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

  await floods();
} finally {
  asking.stop();
  await app.stop(1000, 0);
  await edgeAlone.close();
  await bare.close();
  await fastify.close();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
