import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { randomBase62 } from '../crypto/random.ts';
import { StartError } from '../errors.ts';
import type { Unprivileged } from './unprivileged.ts';

/** A database cluster on disk, and how to run it. */
export interface Cluster {
  home: string;
  dataFolder: string;
  binaries: string;
  runAs: Unprivileged;
  /** How many connections it allows. */
  connections: number;
}

export interface PostgresConnection {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/** The superuser of every cluster. The service uses another role: see `postgres-role.ts`. */
export const adminUser = 'postgres';

/** Creates the cluster if it is missing. Refuses one of another major version. */
export async function prepareCluster(cluster: Cluster, password: string, onCreate: () => void): Promise<void> {
  const versionFile = join(cluster.dataFolder, 'PG_VERSION');
  if (!(await exists(versionFile))) {
    onCreate();
    await createCluster(cluster, password);
  }
  const stored = (await readFile(versionFile, 'utf8')).trim();
  const { stdout } = await cluster.runAs.execute(join(cluster.binaries, 'postgres'), ['--version']);
  const installed = /^\D*(\d+)(\.|devel|beta|rc)/.exec(stdout)?.[1];
  if (stored !== installed) {
    throw new StartError(
      `${cluster.dataFolder} was created by Postgres ${stored}, but ${installed} is installed.\n` +
        `Dump it with Postgres ${stored} and restore it into a new folder, or set DATABASE_URL.`,
    );
  }
}

/** Creates the cluster beside its final place and renames it, so that a crash never leaves half a database. */
async function createCluster({ home, dataFolder, binaries, runAs }: Cluster, password: string): Promise<void> {
  await removeUnfinished(home);
  const unfinished = `${dataFolder}.unfinished-${randomBase62(8)}`;
  const passwordFile = `${unfinished}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  await runAs.own(home);
  // Every machine has locale C; Postgres's builtin provider sorts and folds letters.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const args = ['-D', unfinished, '-U', adminUser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', ...locale];
  try {
    await runAs.execute(join(binaries, 'initdb'), args);
  } catch (error) {
    throw new StartError(`The embedded Postgres could not be created: ${outputOf(error)}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeFile(join(unfinished, 'postgresql.conf'), "include 'heliograph.conf'\n", { flag: 'a' });
  await rename(unfinished, dataFolder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(unfinished, { recursive: true, force: true });
    // Another process that started at the same time was first.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** Removes clusters that a crash left unfinished: none takes more than ten minutes to create. */
async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith('data.unfinished-')) continue;
    const path = join(home, name);
    const changedMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (systemClock.nowMs() - changedMs > 600_000) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Writes the server's settings. It listens on a socket in our folder, or on a free loopback port if the path is too
 * long.
 */
export async function writeServerSettings({ home, dataFolder, connections }: Cluster): Promise<void> {
  // A Unix socket path holds 107 bytes on Linux and 103 on macOS, file name included. Postgres would split a folder
  // name at a comma or quote.
  const fits = Buffer.byteLength(join(home, '.s.PGSQL.65535.lock')) <= 103 && !/[",]/.test(home);
  const socket = process.platform !== 'win32' && fits;
  const lines = [
    `listen_addresses = '${socket ? '' : '127.0.0.1'}'`,
    `unix_socket_directories = '${socket ? quoted(home) : ''}'`,
    'unix_socket_permissions = 0700',
    `port = ${socket ? 5433 : await freePort()}`,
    `max_connections = ${connections}`,
    'fsync = on',
    'synchronous_commit = on',
    'password_encryption = scram-sha-256',
    // More would cost each connection milliseconds of CPU, and our passwords are too random to be guessed.
    'scram_iterations = 1',
    // Errors repeat values ("Key (to)=(+44…) already exists"), so log only the server's own messages: LOG ranks above
    // ERROR. The client that sent the statement gets its error anyway.
    'log_min_messages = log',
    'log_min_error_statement = panic',
    'log_error_verbosity = terse',
    'log_checkpoints = off',
  ];
  // Rename in one step: with half the file, Postgres would use its default port and the shared socket folder.
  const unfinished = join(home, `heliograph.conf.${randomBase62(8)}`);
  await writeFile(unfinished, `${lines.join('\n')}\n`, { mode: 0o600 });
  await rename(unfinished, join(dataFolder, 'heliograph.conf'));
}

function quoted(path: string): string {
  return path.replaceAll('\\', '\\\\').replaceAll("'", "''");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The error output of a failed program. */
export function outputOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim() || message;
}
