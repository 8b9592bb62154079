import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  /** From now on nobody reads what it prints, as when its terminal is closed. */
  closeOutput(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface ServiceOptions {
  dataDir?: string;
  /** A free one unless it is named. */
  port?: number;
  env?: Record<string, string>;
  command?: [string, ...string[]];
  /** What has to answer 200 before it counts as ready. */
  readyAt?: string;
  /** Nobody reads what it prints, so that its pipe fills up. */
  unread?: boolean;
  /** Signals go to the whole process group, as a terminal sends them. */
  asTerminal?: boolean;
}

/** All developers of a test have the same address. */
const forTests = { HELIOGRAPH_PASSWORD_PER_MINUTE: '1000000' };

const services = new Set<Pick<Service, 'ended' | 'kill'>>();

/** The service as a user starts it: built, a process of its own, on a free port, told everything by its environment. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const {
    dataDir = makeFolder('data'),
    env = {},
    command = ['node', 'scripts/run.mjs'],
    asTerminal = false,
    unread = false,
    readyAt = '/readyz',
  } = options;
  const port = options.port ?? (await freePort());
  const startedMs = performance.now();
  const [file, ...args] = command;
  const child = spawn(file === 'node' ? process.execPath : file, args, {
    cwd: root,
    env: { ...cleanEnvironment(), ...forTests, PORT: String(port), HELIOGRAPH_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: asTerminal,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);
  let output = '';
  for (const stream of unread ? [] : [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
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
  // Whoever expects it to end does not look at this one.
  ready.catch(() => {});
  const service: Service = {
    pid,
    url,
    dataDir,
    ready,
    ended,
    output: () => output,
    async printed(text) {
      const untilMs = performance.now() + 120_000;
      while (!output.includes(text)) {
        if (performance.now() > untilMs) throw new Error(`it did not print "${text}":\n${output}`);
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the service ended:\n${output}`);
        await new Promise((done) => setTimeout(done, 5));
      }
    },
    closeOutput: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    kill: (signal) => process.kill(asTerminal ? -pid : pid, signal),
  };
  services.add(service);
  return service;
}

/** So that building is not measured, nor done by several at once. */
export async function buildService(): Promise<void> {
  const child = spawn(process.execPath, ['scripts/run.mjs', '--build-only'], { cwd: root, stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('the service could not be built');
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  const untilMs = performance.now() + 180_000;
  while (performance.now() < untilMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the service ended');
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error('the service was not ready within three minutes');
}

/** Ends every service that is still running, by its pid, and its Postgres with it. For `after`. */
export async function endServices(): Promise<void> {
  await Promise.all([...services].map(endService));
}

async function endService(service: Pick<Service, 'ended' | 'kill'>): Promise<void> {
  service.kill('SIGTERM');
  const late = setTimeout(() => service.kill('SIGKILL'), 15_000);
  await service.ended;
  clearTimeout(late);
}

/** Nothing of the developer's own settings or of the test runner's reaches the service. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = /^(HELIOGRAPH_|PG|PORT$|HOST$|DATABASE_URL$|REDIS_URL$|LOG_LEVEL$|NODE_TEST|NODE_OPTIONS$|npm_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** The pid of the Postgres on a service's data folder, while it lives. */
export function postmasterOf(dataDir: string): number | undefined {
  return livingPostmaster(join(dataDir, 'postgres', 'data'));
}
