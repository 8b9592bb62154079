// The receivers that docs/events.md prints, running as a reader would run them.
import { execFileSync, spawn } from 'node:child_process';
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
`;
const expressTypes = `
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
type Request = IncomingMessage;
type Response = ServerResponse & { status(code: number): Response };
type Handler = (request: Request, response: Response, next: () => void) => unknown;
declare function express(): {
  post(path: string, ...handlers: Handler[]): void;
  listen(port: number, host: string, then: () => void): Server;
};
export default express;
`;

/** A folder with the samples as files, in TypeScript and compiled (.mjs), and the packages that they import. */
export async function writeSamples(): Promise<string> {
  const folder = makeFolder('guide');
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, 'express'), { recursive: true });
  for (const name of ['pg', '@types', '@heliograph'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name), 'dir');
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

/** Whether the program is installed and ends without an error. */
export function hasProgram(name: string, args = ['--version']): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface Program {
  output: () => string;
  stop(): Promise<void>;
}

export interface Receiver extends Program {
  url: string;
}

/** Starts a program of the guide, and waits until it has printed what it prints when it is ready. */
export async function startProgram(
  folder: string,
  [program, ...args]: [string, ...string[]],
  ready: string | RegExp,
  env: Record<string, string>,
): Promise<Program> {
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...env } });
  let output = '';
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  await new Promise<void>((started, failed) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.search(ready) !== -1) started();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', () => failed(new Error(`${program} ${args.join(' ')} ended: ${output}`)));
    child.once('error', failed);
  });
  return {
    output: () => output,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Where Node, Python and PHP say that they listen. */
const listening = /(?:Listening on|Development Server).*?(?:port: |127\.0\.0\.1(?:', |:))(\d+)/s;

/** Starts a receiver of the guide on a free port. */
export async function startReceiver(
  folder: string,
  command: [string, ...string[]],
  env: Record<string, string>,
  path = '/',
): Promise<Receiver> {
  const program = await startProgram(folder, command, listening, { PORT: '0', ...env });
  const port = listening.exec(program.output())?.[1];
  return { ...program, url: `http://127.0.0.1:${port}${path}` };
}
