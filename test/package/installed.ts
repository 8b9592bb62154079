// The package as a user gets it: packed, and installed by npm into an empty folder, without a network.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '../support/process.ts';
import { cleanEnvironment } from '../support/service.ts';
import { type LoopbackRegistry, startRegistry } from './loopback-registry.ts';

const execute = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface PackedFile {
  path: string;
  size: number;
}

export interface Packed {
  /** Of the tarball. */
  file: string;
  size: number;
  files: PackedFile[];
}

/** `npm pack`, of the project or of one of its workspaces; it builds what is stale first. */
export async function pack(...args: string[]): Promise<Packed> {
  const folder = makeFolder('packed');
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder, ...args], {
    cwd: root,
    env: cleanEnvironment(),
    maxBuffer: 2 ** 24,
  });
  // What a build says stands before it.
  const printed = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  const [packed] = Object.values(printed) as { filename: string; size: number; files: PackedFile[] }[];
  if (packed === undefined) throw new Error(`npm pack printed ${stdout}`);
  return { file: join(folder, packed.filename), size: packed.size, files: packed.files };
}

/** `npm run release`: a folder with all files of a release, and the package among them. */
export async function release(folder = makeFolder('release')): Promise<Packed & { folder: string }> {
  const args = ['--import', 'tsx', 'scripts/release.ts', '--draft', folder];
  await execute(process.execPath, args, { cwd: root, env: cleanEnvironment() });
  const file = readdirSync(folder).find((name) => /^heliograph-\d.*\.tgz$/.test(name)) ?? '';
  const { stdout } = await execute('tar', ['tzvf', join(folder, file)]);
  const files = [...stdout.matchAll(/^\S+ +\S+ +(\d+) .* package\/(.*)$/gm)].map(([, size, path = '']) => ({
    path,
    size: Number(size),
  }));
  return { folder, file: join(folder, file), size: statSync(join(folder, file)).size, files };
}

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Installed {
  folder: string;
  registry: LoopbackRegistry;
  /** Settings for npm and npx: a cache of their own, and no other registry. */
  env: Record<string, string>;
  /** Runs npx there, and returns what it printed, whatever its exit code is. */
  npx(...args: string[]): Promise<Printed>;
  /** The same in another folder. */
  npxIn(cwd: string, ...args: string[]): Promise<Printed>;
}

/** The folder's name has a space, as on many machines. */
export async function install(tarball: string, ...args: string[]): Promise<Installed> {
  const registry = await startRegistry(root);
  const home = makeFolder('npm');
  const parent = makeFolder('installed');
  // Other users may read what is installed.
  chmodSync(parent, 0o755);
  const folder = join(parent, 'an empty folder');
  mkdirSync(folder);
  writeFileSync(join(home, 'npmrc'), '');
  const env = {
    HOME: home,
    npm_config_registry: registry.url,
    npm_config_cache: join(home, 'cache'),
    npm_config_userconfig: join(home, 'npmrc'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  const run = (cwd: string, program: string, given: string[]) =>
    execute(program, given, { cwd, env: { ...cleanEnvironment(), ...env }, timeout: 120_000 });
  await run(folder, 'npm', ['install', tarball, ...args]);
  const npxIn = (cwd: string, ...given: string[]): Promise<Printed> =>
    run(cwd, 'npx', given).then(
      (printed) => ({ code: 0, ...printed }),
      (error: Printed) => error,
    );
  return {
    folder,
    registry,
    env,
    npx: (...given) => npxIn(folder, ...given),
    npxIn,
  };
}
