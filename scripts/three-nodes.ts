// A throwaway cluster to try things out: three nodes, an embedded Postgres, a Redis, and a balancer in front.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomBase62 } from '../src/platform/crypto/random.ts';
import { createLog } from '../src/platform/log.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import { copyMigratedPostgres } from '../test/support/data-folder.ts';
import { urlOf } from '../test/support/node-settings.ts';
import { freePort, makeRunFolder, removeRunFolder } from '../test/support/process.ts';
import { startRedis } from '../test/support/redis.ts';
import { type Balancer, startBalancer } from './balancer.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const port = Number(process.env.PORT ?? 8080);
const nodeCount = 3;
const startAgainAfterMs = 5000;
const startWithinMs = 15_000;

interface Node {
  name: string;
  url: string;
  process: ChildProcess;
}

/** Started nodes, ready or not. */
const nodes = new Map<string, Node>();
const endings: (() => Promise<unknown>)[] = [];
let ending = false;
let starting: Promise<unknown> | undefined;

async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  console.log('Stopping everything.');
  // A part that is still starting cannot be stopped, so wait for it.
  await Promise.race([starting, new Promise((done) => setTimeout(done, startWithinMs))]).catch(() => {});
  for (const step of endings.reverse()) await step().catch((error: Error) => console.error(error.message));
  process.exit(code);
}

/** Stops everything that was started, whatever went wrong. */
async function fail(error: unknown): Promise<void> {
  if (!ending) console.error((error as Error).message);
  await end(1);
}
process.on('uncaughtException', (error) => void fail(error));
process.on('unhandledRejection', (error) => void fail(error));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
// npm signals the shell it runs us in, and that shell exits without passing the signal on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && void end(0), 500).unref();

async function startAll(): Promise<Balancer> {
  // The balancer first, so that a taken port fails before anything else starts.
  const balancer = await startBalancer({ nodes: () => [...nodes.values()].map(({ url }) => url), port }).catch(explain);
  endings.push(() => balancer.close());
  const build = spawn(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  const [built] = (await once(build, 'exit')) as [number];
  if (built !== 0) throw new Error('Heliograph could not be built.');
  const folder = makeRunFolder();
  endings.push(() => removeRunFolder(folder));
  // Redis before Postgres, so that a missing redis-server fails early.
  const redis = await startRedis({ folder, detached: true });
  endings.push(() => redis.stop());
  const log = createLog({ level: 'warn', readable: true });
  const onProgress = (step: string) => console.log(`The cluster is ${step}.`);
  const home = join(folder, 'postgres');
  // A test gives it a Postgres with all migrations.
  copyMigratedPostgres(home);
  const postgres = await startEmbeddedPostgres({ folder: home, log, onProgress });
  endings.push(() => postgres.stop());

  const settings = {
    DATABASE_URL: urlOf(postgres.connection),
    REDIS_URL: redis.url,
    HELIOGRAPH_PUBLIC_URL: `http://127.0.0.1:${port}`,
    HELIOGRAPH_SECRET: randomBase62(43),
    HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
    LOG_LEVEL: 'warn',
  };
  endings.push(() => Promise.all([...nodes.values()].map(endNode)));
  for (let index = 1; index <= nodeCount; index++) {
    const nodePort = await freePort();
    const env = { ...settings, PORT: String(nodePort), HELIOGRAPH_DATA_DIR: join(folder, `node-${index}`) };
    await launch({ name: `node ${index}`, url: `http://127.0.0.1:${nodePort}` }, env);
  }
  while (!ending && balancer.ready() < nodeCount) await new Promise((done) => setTimeout(done, 50));
  console.log(`\nRedis    ${redis.url} (process ${redis.pid()})`);
  return balancer;
}

function explain(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EADDRINUSE') throw error;
  throw new Error(
    `Port ${port} is taken: another program listens there, perhaps \`npm start\`. Stop it, or choose another port: ` +
      `PORT=${port + 1} npm run cluster`,
  );
}

/** Restarts a killed node after a while, so that you can watch it leave and return. */
async function launch(node: Omit<Node, 'process'>, env: Record<string, string>): Promise<void> {
  if (ending) return;
  const child = spawn(process.execPath, ['dist/service/main.js'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C must reach only this process, which stops the nodes before what they depend on.
    detached: true,
  });
  nodes.set(node.name, { ...node, process: child });
  let output = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  let ready = false;
  child.on('exit', (code, signal) => {
    if (ending || !ready) return;
    console.log(`${node.name} ended (${signal ?? code}); it restarts in ${startAgainAfterMs / 1000} s.`);
    setTimeout(() => void launch(node, env).catch(fail), startAgainAfterMs);
  });
  for (let tries = 0; !output.includes('is ready'); tries++) {
    if (child.exitCode !== null || tries > 1200) throw new Error(`${node.name} did not start:\n${output}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  ready = true;
  // The first node creates the demo applications and prints how to use them.
  const curls = output.split('\n').filter((line) => line.trimStart().startsWith('curl'));
  if (curls.length > 0) console.log(`\nTry it. Paste any of these lines:\n\n${curls.join('\n')}\n`);
  console.log(`${node.name}   ${node.url} (process ${child.pid})`);
}

async function endNode({ process: child }: Node): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

try {
  const started = startAll();
  starting = started;
  const { url } = await started;
  if (!ending)
    console.log(`balancer ${url} (checks /readyz of each node)

What to try:
  kill -9 a node               the other nodes deliver its texts; it restarts after 5 s
  kill -STOP the Redis         each node enforces a third of each limit within 100 ms; undo with kill -CONT
  revoke a token at one node   all nodes refuse it once the node has answered
  curl NODE/readyz             the state of its database and window store
  curl NODE/metrics            heliograph_window_store_in_use, heliograph_live_nodes

Press Ctrl-C to stop everything.
`);
} catch (error) {
  await fail(error);
}
