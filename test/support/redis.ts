import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import { ageKey } from '../../src/edge/window-breaker.ts';
import { freePort, makeFolder } from './process.ts';

/** A real Redis on a port of its own, without a disk: one that is started again has forgotten everything. */
export interface RedisServer {
  url: string;
  port: number;
  pid(): number;
  kill(signal: NodeJS.Signals): void;
  /** Ends it at once; nothing is said to those who are connected. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Makes it one that nodes have relied on for long. A server that was just started would be on probation for a minute. */
  settle(): Promise<void>;
  ask(...command: string[]): Promise<unknown>;
}

const running = new Set<RedisServer>();

export interface RedisServerOptions {
  settled?: boolean;
  folder?: string;
  /** In a process group of its own: then Ctrl-C in the terminal does not reach it. */
  detached?: boolean;
}

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { settled = true, folder = makeFolder('redis'), detached = false } = options;
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  async function ask(...command: string[]): Promise<unknown> {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    await client.connect();
    return client.sendCommand(command).finally(() => client.destroy());
  }

  const server: RedisServer = {
    url,
    port,
    pid: () => child?.pid ?? 0,
    kill: (signal) => void child?.kill(signal),
    async stop() {
      if (child === undefined) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      child = undefined;
      running.delete(server);
    },
    async start() {
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
      const started = spawn('redis-server', args, { stdio: 'ignore', detached });
      child = started;
      let failure: Error | undefined;
      started.on('error', () => {
        failure = new Error('This needs the program redis-server (Debian: apt-get install redis-server).');
      });
      started.on('exit', () => {
        failure ??= new Error('redis-server ended by itself');
      });
      running.add(server);
      for (;;) {
        if (await ask('PING').catch(() => undefined)) return;
        if (failure !== undefined) {
          child = undefined;
          running.delete(server);
          throw failure;
        }
        await new Promise((done) => setTimeout(done, 10));
      }
    },
    async settle() {
      const id = /^run_id:(\S+)/m.exec(String(await ask('INFO', 'server')))?.[1] ?? '';
      await ask('HSET', ageKey, 'server', id, 'since', '0');
    },
    ask,
  };
  await server.start();
  if (settled) await server.settle();
  return server;
}

/** For `after`. */
export async function endRedis(): Promise<void> {
  for (const server of [...running]) await server.stop();
}
