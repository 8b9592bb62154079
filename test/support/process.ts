import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
  /** Resolves once it has printed the text; rejects when it ends without. */
  printed(text: string): Promise<void>;
  /** From now on nobody reads what it prints, as when its terminal is closed. */
  closeOutput(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface ServiceOptions {
  dataDir?: string;
  env?: Record<string, string>;
  command?: [string, ...string[]];
  /** What has to answer 200 before it counts as ready. */
  readyAt?: string;
  /** Signals go to the whole process group, as a terminal sends them. */
  asTerminal?: boolean;
}

const services = new Set<Pick<Service, 'ended' | 'kill'>>();

/** The service as a user starts it: built, a process of its own, on a free port, told everything by its environment. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const {
    dataDir = makeFolder('data'),
    env = {},
    command = ['node', 'scripts/run.mjs'],
    asTerminal = false,
    readyAt = '/readyz',
  } = options;
  const port = await freePort();
  const startedMs = performance.now();
  const [file, ...args] = command;
  const child = spawn(file === 'node' ? process.execPath : file, args, {
    cwd: root,
    env: { ...cleanEnvironment(), PORT: String(port), HELIOGRAPH_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: asTerminal,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
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
      while (!output.includes(text)) {
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
  for (const service of services) {
    service.kill('SIGTERM');
    const late = setTimeout(() => service.kill('SIGKILL'), 15_000);
    await service.ended;
    clearTimeout(late);
  }
}

/** Nothing of the developer's own settings or of the test runner's reaches the service. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = /^(HELIOGRAPH_|PG|PORT$|HOST$|DATABASE_URL$|REDIS_URL$|LOG_LEVEL$|NODE_TEST|NODE_OPTIONS$|npm_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** A new folder below the one that `npm test` removes in the end, with every server that still runs in it. */
export function makeFolder(name: string): string {
  return mkdtempSync(join(process.env.HELIOGRAPH_TEST_FOLDER ?? tmpdir(), `${name}-`));
}

/** The pid of the Postgres on a service's data folder, while it lives. */
export function postmasterOf(dataDir: string): number | undefined {
  return livingPostmaster(join(dataDir, 'postgres', 'data'));
}

export function livingPostmaster(dataFolder: string): number | undefined {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return pid > 1 && isRunning(pid) ? pid : undefined;
}

/** What has ended but was not yet reaped by its parent is gone for all that matters here. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !hasProc || stateOf(pid) !== 'Z';
}

export function isGroupRunning(group: number): boolean {
  if (!hasProc) return isRunning(-group);
  const inGroup = (pid: string) => statOf(pid)[2] === String(group) && statOf(pid)[0] !== 'Z';
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && inGroup(name));
}

/** Every process whose command line names the path. */
export function processesOn(path: string): number[] {
  const names = hasProc ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return names.filter((pid) => readText(`/proc/${pid}/cmdline`).includes(path)).map(Number);
}

const hasProc = existsSync('/proc/self/stat');

function stateOf(pid: number): string | undefined {
  return statOf(String(pid))[0] ?? 'Z';
}

/** State, parent, group and so on: what follows the program's name, which may itself hold spaces. */
function statOf(pid: string): string[] {
  const text = readText(`/proc/${pid}/stat`);
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export async function waitUntilGone(pid: number, withinMs = 15_000): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs && isRunning(pid); waitedMs += 25) {
    await new Promise((done) => setTimeout(done, 25));
  }
  return !isRunning(pid);
}

const folderName = /^heliograph-test-(\d+)-/;

/** The one folder for everything a test run leaves on the disk. Others may pass through it, as a user of Postgres's must. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `heliograph-test-${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** Ends every Postgres whose data lies below the folder, and removes it. */
export async function removeRunFolder(folder: string): Promise<void> {
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    if (!name.endsWith('postmaster.pid')) continue;
    const dataFolder = join(folder, name, '..');
    const pid = livingPostmaster(dataFolder);
    // A number can be somebody else's by now; a server works in its data folder.
    if (pid === undefined || !readText(`/proc/${pid}/cmdline`).includes(dataFolder)) continue;
    process.kill(pid, 'SIGQUIT');
    if (!(await waitUntilGone(pid, 5000))) process.kill(pid, 'SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true });
}

/** What runs that were killed have left: their folders carry their pids. */
export async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(folderName.exec(name)?.[1]);
    if (pid > 1 && !isRunning(pid)) await removeRunFolder(join(tmpdir(), name));
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
