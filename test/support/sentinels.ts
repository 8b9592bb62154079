import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@redis/client';
import { ageKey } from '../../src/edge/window-breaker.ts';
import { eventually } from './eventually.ts';
import { freePort, isRunning, makeFolder } from './process.ts';
import './redis.ts';

const deploy = fileURLToPath(new URL('../../deploy/ha', import.meta.url));
const name = 'heliograph';

export interface SentinelWorld {
  /** For `REDIS_URL`. */
  url: string;
  /** The port of the master, as the Sentinels name it. */
  master(): Promise<number>;
  signal(port: number, signal: NodeJS.Signals): void;
  /** Starts one again that was killed. */
  restart(port: number): Promise<void>;
  ask(port: number, ...command: string[]): Promise<unknown>;
  /** Resolves with the `performance.now()` at which the first Sentinel announced another master: its `+switch-master`. */
  decision(): Promise<number>;
  /** Resolves when the master has a replica that follows it. */
  replicated(at?: number): Promise<void>;
  ports: number[];
  close(): Promise<void>;
}

/** Three Redis and three Sentinels, by the configuration of deploy/ha: only addresses and folders are this machine's. */
export async function startSentinels(folder = makeFolder('sentinels')): Promise<SentinelWorld> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const sentinelPorts = [await freePort(), await freePort(), await freePort()];
  const [first = 0] = ports;
  const children = new Map<number, ChildProcess>();

  async function launch(port: number, file: string, ...args: string[]): Promise<void> {
    const child = spawn('redis-server', [file, ...args], { stdio: 'ignore', detached: true });
    children.set(port, child);
    await eventually(`the server at ${port} answers`, () => ask(port, 'PING').then(Boolean, () => false));
  }

  async function ask(port: number, ...command: string[]): Promise<unknown> {
    const url = `redis://127.0.0.1:${port}`;
    const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false, connectTimeout: 1000 } });
    client.on('error', () => {});
    await client.connect();
    return client.sendCommand(command).finally(() => client.destroy());
  }

  function write(port: number, from: string, changes: [string, string][]): string {
    let text = readFileSync(join(deploy, from), 'utf8');
    for (const [what, by] of changes) {
      if (!text.includes(what)) throw new Error(`deploy/ha/${from} has no ${what}`);
      text = text.replaceAll(what, by);
    }
    const file = join(folder, `${port}.conf`);
    writeFileSync(file, text);
    return file;
  }

  async function startRedis(port: number, follows: number | undefined): Promise<void> {
    const file = write(port, 'redis.conf', [
      ['bind 0.0.0.0', 'bind 127.0.0.1'],
      ['port 6379', `port ${port}`],
      ['dir /var/lib/redis', `dir ${folder}`],
    ]);
    await launch(port, file, ...(follows === undefined ? [] : ['--replicaof', '127.0.0.1', String(follows)]));
  }

  async function master(): Promise<number> {
    for (const port of sentinelPorts) {
      const answer = await ask(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name).catch(() => undefined);
      if (Array.isArray(answer)) return Number(answer[1]);
    }
    throw new Error('no Sentinel names a master');
  }

  const world: SentinelWorld = {
    url: `redis+sentinel://${sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')}/${name}`,
    ports,
    master,
    ask,
    async decision() {
      const clients = sentinelPorts.map((port) => createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 }));
      try {
        return await new Promise<number>((resolve, reject) => {
          const follow = async (client: (typeof clients)[number]) => {
            client.on('error', () => {});
            await client.connect();
            await client.subscribe('+switch-master', () => resolve(performance.now()));
          };
          Promise.all(clients.map(follow)).catch(reject);
          setTimeout(() => reject(new Error('no Sentinel announced another master within a minute')), 60_000).unref();
        });
      } finally {
        for (const client of clients) client.destroy();
      }
    },
    signal: (port, signal) => void children.get(port)?.kill(signal),
    // Sentinel makes it a replica of the new master.
    restart: async (port) => startRedis(port, await master()),
    async replicated(at) {
      await eventually('a replica follows the master', async () => {
        const port = at ?? (await master().catch(() => undefined));
        const info = port === undefined ? '' : String(await ask(port, 'INFO', 'replication').catch(() => ''));
        return /^role:master/m.test(info) && /state=online/.test(info);
      });
    },
    async close() {
      for (const child of children.values()) {
        if (!isRunning(child.pid ?? 0)) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
  for (const port of ports) await startRedis(port, port === first ? undefined : first);
  await world.replicated(first);
  for (const port of sentinelPorts) {
    const file = write(port, 'sentinel.conf', [
      ['bind 0.0.0.0', 'bind 127.0.0.1'],
      ['port 26379', `port ${port}`],
      ['dir /var/lib/redis', `dir ${folder}`],
      ['10.0.0.11 6379', `127.0.0.1 ${first}`],
    ]);
    await launch(port, file, '--sentinel');
  }
  // A server that was just started would be on probation for a minute.
  const id = /^run_id:(\S+)/m.exec(String(await ask(first, 'INFO', 'server')))?.[1] ?? '';
  await ask(first, 'HSET', ageKey, 'server', id, 'since', '0');
  await eventually('the Sentinels know each other', async () => {
    const answers = await Promise.all(
      sentinelPorts.map((port) => ask(port, 'SENTINEL', 'CKQUORUM', name).catch(String)),
    );
    return answers.every((answer) => String(answer).startsWith('OK 3'));
  });
  return world;
}
