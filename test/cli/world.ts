import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { createTestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { urlOf } from '../support/node-settings.ts';
import { makeFolder } from '../support/process.ts';
import { endServices, type Service, startService } from '../support/service.ts';
import { runInProcess } from './in-process.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** What the command runs, once it is built. */
export const program = join(root, 'cli/dist/main.js');
export const binFile = join(root, 'cli/bin/heliograph.mjs');

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** They run the service's program, which is loaded as it is. */
const ofTheMachine = ['export', 'plan', 'apply', 'start'];

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
  /** Instead of the sandbox's folder. */
  folder?: string;
  /** What it shows on purpose. */
  shows?: string;
  /** In a process of its own, whichever command it is. */
  alone?: boolean;
}

/** A sandbox in a folder, as `heliograph start` makes it, and commands in that folder. */
export interface World {
  url: string;
  folder: string;
  service: Service;
  sandbox: SandboxCredentials;
  /** For commands beside the service. */
  databaseUrl: string;
  /** Of the program: nothing of the machine's own. */
  env: Record<string, string>;
  /** In short, only the first use of each command has a process of its own. */
  run(args: string[], options?: RunOptions): Promise<Ran>;
  /** The JSON that it printed; fails unless it ended well. */
  json<Value = Record<string, unknown>>(args: string[], options?: RunOptions): Promise<Value>;
  begin(args: string[], options?: RunOptions): ChildProcess;
  close(): Promise<void>;
}

/** `settings` of the service, beside those of every world. */
export async function createWorld(settings: Record<string, string> = {}): Promise<World> {
  const database = await createTestDatabase();
  const databaseUrl = urlOf(database.connection);
  const folder = makeFolder('folder');
  const dataDir = join(folder, '.heliograph');
  mkdirSync(dataDir);
  const service = await startService({
    dataDir,
    command: ['node', binFile, 'start'],
    env: {
      DATABASE_URL: databaseUrl,
      HELIOGRAPH_PLANS: '{"free":{"per_minute":1}}',
      // Of a developer's shell: the service does not mind them.
      HELIOGRAPH_URL: 'http://127.0.0.1:9',
      HELIOGRAPH_API_KEY: 'of another service',
      ...settings,
    },
  });
  await service.ready;
  await service.printed('sandbox-credentials.json');
  const sandbox = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as SandboxCredentials;
  const secrets = [
    sandbox.portal.password,
    ...sandbox.applications.flatMap(({ api_key, client_secret }) => [api_key, client_secret]),
  ];
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
  };

  const used = new Set<string>();
  const world: World = {
    url: service.url,
    folder,
    service,
    sandbox,
    databaseUrl,
    env,
    begin: (args, options = {}) =>
      spawn(process.execPath, [program, ...args], {
        cwd: options.folder ?? folder,
        env: { ...env, ...options.env },
        stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      }),

    async run(args, options = {}) {
      const [command = ''] = args;
      const isAlone = inShort(!used.has(command) || ofTheMachine.includes(command) || options.alone === true, true);
      used.add(command);
      const { code, stdout, stderr } = isAlone
        ? await runAlone(world.begin(args, options), options.stdin)
        : await runInProcess(program, {
            ...{ args, stdin: options.stdin, folder: options.folder ?? folder },
            env: { ...env, ...options.env },
          });
      for (const secret of secrets.filter((each) => each !== options.shows))
        assert.ok(!`${stdout}${stderr}`.includes(secret), `a secret in the output of ${args.join(' ')}`);
      return { code, stdout, stderr };
    },

    async json<Value>(args: string[], options: RunOptions = {}) {
      const { code, stdout, stderr } = await world.run([...args, '--json'], options);
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout) as Value;
    },

    async close() {
      await endServices();
      await database.drop();
    },
  };
  return world;
}

async function runAlone(child: ChildProcess, stdin?: string): Promise<Ran> {
  child.stdin?.end(stdin);
  assert.ok(child.stdout !== null && child.stderr !== null, 'the program has no output');
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
