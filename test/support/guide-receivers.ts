// The receivers that docs/events.md prints, running as a reader would run them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import { makeFolder } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const guide = readFileSync(join(root, 'docs/events.md'), 'utf8');
export const samples = guideSamples(guide);

/** As much of Express as the guide uses: the guide's code must run without a dependency for it. */
const expressJs = `
import { createServer } from 'node:http';
export default function express() {
  const routes = [];
  return {
    post: (path, ...handlers) => routes.push({ path, handlers }),
    listen: (port, host, then) => createServer(async (request, response) => {
      response.status = (code) => { response.statusCode = code; return response; };
      const found = routes.find(({ path }) => request.method === 'POST' && request.url === path);
      if (found === undefined) return response.status(404).end();
      for (const handler of found.handlers) await new Promise((next) => {
        response.once('close', next);
        void handler(request, response, next);
      });
    }).listen(port, host, then),
  };
}
express.raw = () => (request, _response, next) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => { request.body = Buffer.concat(chunks); next(); });
};
`;
const expressTypes = `
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
type Request = IncomingMessage & { body: Buffer };
type Response = ServerResponse & { status(code: number): Response };
type Handler = (request: Request, response: Response, next: () => void) => unknown;
declare function express(): {
  post(path: string, ...handlers: Handler[]): void;
  listen(port: number, host: string, then: () => void): Server;
};
declare namespace express { function raw(options: { type: string; limit: string }): Handler; }
export default express;
`;

/** A folder with the samples as files, in TypeScript and compiled (.mjs), and the packages that they import. */
export async function writeSamples(): Promise<string> {
  const folder = makeFolder('guide');
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, 'express'), { recursive: true });
  for (const name of ['pg', '@types']) symlinkSync(join(root, 'node_modules', name), join(packages, name), 'dir');
  writeFileSync(join(packages, 'express/package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(packages, 'express/index.js'), expressJs);
  writeFileSync(join(packages, 'express/index.d.ts'), expressTypes);
  for (const [name, code] of samples) writeFileSync(join(folder, name), code);
  await build({
    absWorkingDir: folder,
    entryPoints: [...samples.keys()].filter((name) => name.endsWith('.ts')),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    target: 'node20',
    bundle: true,
    packages: 'external',
    logLevel: 'warning',
  });
  return folder;
}

/** What the TypeScript compiler says of the samples. */
export function compilerErrors(folder: string): string {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--types', 'node'];
  const compiler = ['--module', 'nodenext', '--target', 'es2023', ...options];
  const files = [...samples.keys()].filter((name) => name.endsWith('.ts'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), [...compiler, ...files], { cwd: folder, encoding: 'utf8' });
    return '';
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  }
}

export function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface Receiver {
  url: string;
  output: () => string;
  stop(): Promise<void>;
}

/** Starts a receiver on a free port and waits until it says where it listens. */
export async function startReceiver(
  folder: string,
  command: [string, ...string[]],
  env: Record<string, string>,
  path = '/',
): Promise<Receiver> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, PORT: '0', ...env } });
  let output = '';
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const port = await new Promise<string>((found, failed) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [, shown] =
        /(?:Listening on|Development Server).*?(?:port: |127\.0\.0\.1(?:', |:))(\d+)/s.exec(output) ?? [];
      if (shown !== undefined) found(shown);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', () => failed(new Error(`${program} ${args.join(' ')} ended: ${output}`)));
    child.once('error', failed);
  });
  return { url: `http://127.0.0.1:${port}${path}`, output: () => output, stop: () => stop(child, ended) };
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
