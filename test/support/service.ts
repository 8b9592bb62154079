import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideMigratedPostgres } from './data-folder.ts';
import { freePort, livingPostmaster, makeFolder } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Service {
  pid: number;
  url: string;
  dataDir: string;
  /** Resolves with the milliseconds it took to be ready; rejects when the process ends instead. */
  ready: Promise<number>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; afterMs: number }>;
  /** Everything it has printed so far. */
  output(): string;
  /** Resolves once it has printed the text; rejects when it ends without, or takes longer than two minutes. */
  printed(text: string): Promise<void>;
  /** From now on its output is not read, as when its terminal is closed. */
  closeOutput(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface ServiceOptions {
  dataDir?: string;
  /** A free one unless it is named. */
  port?: number;
  env?: Record<string, string>;
  command?: [string, ...string[]];
  /** The project's folder unless it is named. */
  cwd?: string;
  /** What has to answer 200 before it counts as ready. */
  readyAt?: string;
  /** Its output is not read, so that its pipe fills up. */
  unread?: boolean;
  /** It creates its Postgres and runs the migrations itself, instead of getting a copy that has them. */
  firstStart?: boolean;
  /** Signals go to the whole process group, as a terminal sends them. */
  asTerminal?: boolean;
}

/** All developers of a test have the same address. */
const forTests = {
  HELIOGRAPH_PASSWORD_PER_MINUTE: '1000000',
  // The test runner runs some tests on several web processes too.
  ...(process.env.HELIOGRAPH_TEST_PROCESSES && { HELIOGRAPH_PROCESSES: process.env.HELIOGRAPH_TEST_PROCESSES }),
};

/** What `npm start` starts once everything is built, as the runner has done. */
export const program = join('dist', 'service', 'main.js');

const services = new Set<Pick<Service, 'ended' | 'kill'>>();

/** The service as a user starts it: built, a process of its own, on a free port, configured by its environment. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const {
    dataDir = makeFolder('data'),
    env = {},
    command = ['node', program],
    asTerminal = false,
    unread = false,
    readyAt = '/readyz',
    cwd = root,
    firstStart = false,
  } = options;
  if (!firstStart && env.DATABASE_URL === undefined) provideMigratedPostgres(dataDir);
  const port = options.port ?? (await freePort());
  const startedMs = performance.now();
  const [file, ...args] = command;
  const child = spawn(file === 'node' ? process.execPath : file, args, {
    cwd,
    env: { ...cleanEnvironment(), ...forTests, PORT: String(port), HELIOGRAPH_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: asTerminal,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);
  let output = '';
  const readers = new Set<() => void>();
  for (const stream of unread ? [] : [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
      for (const poll of readers) poll();
    });
  }
  const ended = new Promise<Awaited<Service['ended']>>((resolve) => {
    child.on('close', (code, signal) => {
      services.delete(service);
      resolve({ code, signal, afterMs: performance.now() - startedMs });
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = waitUntilReady(url + readyAt, child).then(
    () => performance.now() - startedMs,
    (error: Error) => {
      throw new Error(`${error.message}:\n${output}`);
    },
  );
  // A test that expects the end does not read this one.
  ready.catch(() => {});
  const service: Service = {
    pid,
    url,
    dataDir,
    ready,
    ended,
    output: () => output,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          clearTimeout(late);
          readers.delete(poll);
          settle();
        };
        const poll = () => output.includes(text) && end(resolve);
        const giveUp = () => end(() => reject(new Error(`it did not print "${text}":\n${output}`)));
        const late = setTimeout(giveUp, 120_000);
        readers.add(poll);
        void ended.then(giveUp);
        poll();
      }),
    closeOutput: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    // One that has just ended by itself is no error.
    kill: (signal) => (asTerminal ? process.kill(-pid, signal) : child.kill(signal)),
  };
  services.add(service);
  return service;
}

/** So that building is not measured, nor done by several at once. `npm test` has built before it starts any test. */
export async function buildService(): Promise<void> {
  if (process.env.HELIOGRAPH_TEST_FOLDER !== undefined) return;
  const child = spawn(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('the service could not be built');
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  const startedMs = performance.now();
  for (let tookMs = 0; tookMs < 180_000; tookMs = performance.now() - startedMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the service ended');
    if ((await statusOf(url)) === 200) return;
    // Each try costs CPU, which the service waits for on a busy machine.
    await new Promise((done) => setTimeout(done, Math.max(25, tookMs / 10)));
  }
  throw new Error('the service was not ready within three minutes');
}

/**
 * Undefined without an answer within five seconds. By `node:http`: a refused `fetch` costs ten times as much, and on Node 20
 * one whose socket is destroyed may never end.
 */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(url, { agent: false }, (answer) => {
      answer.on('error', () => {}).resume();
      end(answer.statusCode);
    });
    const late = setTimeout(() => sent.destroy(), 5000);
    const end = (status?: number) => {
      clearTimeout(late);
      resolve(status);
    };
    sent.on('error', () => end()).on('close', () => end());
    sent.end();
  });
}

/** Ends every service that is still running, by its pid, and its Postgres with it. For `after`. */
export async function endServices(): Promise<void> {
  await Promise.all([...services].map(endService));
}

export async function endService(service: Pick<Service, 'ended' | 'kill'>): Promise<void> {
  service.kill('SIGTERM');
  const late = setTimeout(() => service.kill('SIGKILL'), 15_000);
  await service.ended;
  clearTimeout(late);
}

/** Nothing of the developer's own settings or of the test runner's reaches the service. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = /^(HELIOGRAPH_|PG|PORT$|HOST$|DATABASE_URL$|REDIS_URL$|LOG_LEVEL$|NODE_TEST|NODE_OPTIONS$|npm_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** The pid of the Postgres on a service's data folder, while it lives. */
export function postmasterOf(dataDir: string): number | undefined {
  return livingPostmaster(join(dataDir, 'postgres', 'data'));
}
