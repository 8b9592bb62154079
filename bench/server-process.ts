import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/process.ts';

/** A server under test, in a process of its own. */
export interface Server {
  port: number;
  /** What its process has used so far, all threads together. */
  cpuMicroseconds(): Promise<number>;
  /** After a collection, so that only what is held counts. */
  memory(): Promise<NodeJS.MemoryUsage>;
  /** Of its main thread; `stopProfile` writes the .cpuprofile. */
  startProfile(): Promise<void>;
  stopProfile(file: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Below the repository. */
  file: string;
  env?: Record<string, string>;
  /** Has to answer, and not with a 5xx, before it counts as started. */
  readyAt?: string;
  /** Where it runs, so that no `.env` of a developer's is found. */
  folder: string;
  /** The Node that runs it; this one by default. */
  program?: string;
}

const root = new URL('../', import.meta.url);
const probe = new URL('server-probe.mjs', import.meta.url).href;
const startWithinMs = 60_000;

export async function startServer(options: ServerOptions): Promise<Server> {
  const { file, env = {}, readyAt = '/', folder, program = process.execPath } = options;
  const port = await freePort();
  const child = fork(fileURLToPath(new URL(file, root)), {
    cwd: folder,
    execPath: program,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), ...env },
    execArgv: ['--expose-gc', '--import', probe],
    // What it logs is written as in production, and goes nowhere.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaints = '';
  child.stderr?.on('data', (piece: Buffer) => {
    complaints += piece.toString('utf8');
  });
  const fail = (what: string) => new Error(`${file} ${what}\n${complaints}`);
  await untilReady(`http://127.0.0.1:${port}${readyAt}`, child, fail);
  const ask = createAsk(child, fail);
  return {
    port,
    async cpuMicroseconds() {
      const { user, system } = (await ask('cpu')) as NodeJS.CpuUsage;
      return user + system;
    },
    memory: async () => (await ask('memory')) as NodeJS.MemoryUsage,
    startProfile: async () => void (await ask('startProfile')),
    stopProfile: async (file) => void (await ask('stopProfile', file)),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await gone;
      clearTimeout(late);
    },
  };
}

type Fail = (what: string) => Error;

function createAsk(child: ChildProcess, fail: Fail): (what: string, argument?: string) => Promise<unknown> {
  const waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.resolve(answer);
    waiting.delete(id);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(fail('has ended'));
  });
  return (what, argument) =>
    new Promise((resolve, reject) => {
      if (!child.connected) return reject(fail('has ended'));
      asked += 1;
      waiting.set(asked, { resolve, reject });
      child.send({ id: asked, ask: what, argument });
    });
}

async function untilReady(url: string, child: ChildProcess, fail: Fail): Promise<void> {
  const untilMs = performance.now() + startWithinMs;
  while (performance.now() < untilMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw fail('ended instead of listening');
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response !== undefined && response.status < 500) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  child.kill('SIGKILL');
  throw fail(`did not listen within ${startWithinMs / 1000} s`);
}
