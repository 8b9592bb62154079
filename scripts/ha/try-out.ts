// All of docs/operations.md "Several machines" on this one: three Postgres with Patroni and etcd, three Redis with Sentinel,
// two nodes, and HAProxy. Shows who is what, and breaks it at the press of a key.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomBase62 } from '../../src/platform/crypto/random.ts';
import { freePort, makeRunFolder, removeRunFolder } from '../../test/support/process.ts';
import { type SentinelWorld, startSentinels } from '../../test/support/sentinels.ts';
import { type Caller, startCaller } from './caller.ts';
import { startHaProxy } from './haproxy.ts';
import { type Member, type PatroniCluster, startPatroni } from './patroni.ts';
import { debianPackages, end, findMissing } from './programs.ts';
import { createScreen, type Screen } from './screen.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const port = Number(process.env.PORT ?? 8080);
/** Longer than Patroni's ttl, so that a failover comes before the restart. */
const restartAfterMs = 40_000;
const frozenForMs = 30_000;

interface Node {
  name: string;
  url: string;
  child: ChildProcess;
}

const endings: (() => Promise<unknown>)[] = [];
let ending: Promise<void> | undefined;
let screen: Screen | undefined;

function stop(code: number): Promise<void> {
  ending ??= (async () => {
    screen?.close();
    console.log('Stopping everything.');
    for (const step of endings.reverse()) await step().catch((error: Error) => console.error(error.message));
    process.exit(code);
  })();
  return ending;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
// npm signals the shell that it runs us in, and that shell exits without passing the signal on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && void stop(0), 500).unref();

interface World {
  postgres: PatroniCluster;
  redis: SentinelWorld;
  nodes: Node[];
  url: string;
  primaryPort: number;
  caller: Caller;
}

async function start(): Promise<World> {
  const missing = findMissing();
  if (missing.length > 0) {
    throw new Error(`Missing: ${missing.join(', ')}. On Debian: apt-get install ${debianPackages.join(' ')}`);
  }
  const build = spawn(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  const [built] = (await once(build, 'exit')) as [number];
  if (built !== 0) throw new Error('Heliograph could not be built.');
  const folder = makeRunFolder();
  chmodSync(folder, 0o711);
  endings.push(() => removeRunFolder(folder));
  console.log('Starting three etcd and three Postgres with Patroni. This takes half a minute.');
  const postgres = await startPatroni(folder, freePort);
  endings.push(() => postgres.close());
  console.log('Starting three Redis and three Sentinels.');
  const redis = await startSentinels(folder);
  endings.push(() => redis.close());
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    HELIOGRAPH_PUBLIC_URL: `http://127.0.0.1:${port}`,
    HELIOGRAPH_SECRET: randomBase62(43),
    HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
    LOG_LEVEL: 'fatal',
  };
  console.log('Starting two nodes and HAProxy.');
  const nodes: Node[] = [];
  endings.push(() => Promise.all(nodes.map(({ child }) => end(child, 'SIGTERM'))));
  for (const name of ['node1', 'node2']) nodes.push(await startNode(name, join(folder, name), env));
  const primaryPort = await freePort();
  const haproxy = startHaProxy(folder, { postgres, nodes, primaryPort, callersPort: port });
  endings.push(() => end(haproxy));
  const credentials = JSON.parse(
    readFileSync(join(folder, 'node1', 'sandbox-credentials.json'), 'utf8'),
  ) as Credentials;
  const url = `http://127.0.0.1:${port}`;
  const key = credentials.applications.find(({ plan }) => plan === 'enterprise')?.api_key ?? '';
  const caller = startCaller(url, key);
  endings.push(() => caller.stop());
  return { postgres, redis, nodes, url, primaryPort, caller };
}

interface Credentials {
  applications: { plan: string; api_key: string }[];
}

async function startNode(name: string, dataDir: string, settings: Record<string, string>): Promise<Node> {
  const nodePort = await freePort();
  const child = spawn(process.execPath, ['dist/service/main.js'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...settings, PORT: String(nodePort), HELIOGRAPH_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  for (let tries = 0; !output.includes('is ready'); tries++) {
    if (child.exitCode !== null || tries > 1200) throw new Error(`${name} did not start:\n${output}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  return { name, url: `http://127.0.0.1:${nodePort}`, child };
}

/** What each key does. A part that was ended comes back by itself. */
function actsOf(
  { postgres, redis }: World,
  say: (text: string) => void,
): Record<string, [string, () => Promise<void>]> {
  const later = (what: string, afterMs: number, act: () => unknown) => {
    say(`${what} in ${afterMs / 1000} s`);
    setTimeout(() => ending === undefined && void act(), afterMs).unref();
  };
  const atPrimary = async (act: (member: Member) => unknown) => {
    const member = await postgres.primary();
    if (member === undefined) return say('no member takes writes now');
    await act(member);
  };
  return {
    k: [
      'kill the primary',
      () =>
        atPrimary((member) => {
          postgres.kill(member);
          say(`killed Patroni and Postgres of ${member.name}; Patroni waits 20 s for it`);
          later(`${member.name} starts again`, restartAfterMs, () => postgres.restart(member));
        }),
    ],
    f: [
      'freeze the primary',
      () =>
        atPrimary((member) => {
          postgres.freeze(member);
          say(`froze Patroni and Postgres of ${member.name}`);
          later(`${member.name} wakes up`, frozenForMs, () => postgres.thaw(member));
        }),
    ],
    s: [
      'switch over',
      () => atPrimary((member) => postgres.switchOver(member).then(() => say('switch-over asked for'))),
    ],
    r: [
      "kill Redis's master",
      async () => {
        const master = await redis.master();
        redis.signal(master, 'SIGKILL');
        say(`killed the Redis at ${master}`);
        later('it starts again', restartAfterMs, () => redis.restart(master));
      },
    ],
  };
}

async function main(): Promise<void> {
  const world = await start();
  const shown = createScreen({
    ...world,
    acts: (say) => actsOf(world, say),
    stop: () => void stop(0),
  });
  screen = shown;
}

await main().catch(async (error: Error) => {
  if (ending === undefined) console.error(error.message);
  await stop(1);
});
