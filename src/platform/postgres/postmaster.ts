import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './cluster.ts';

const execute = promisify(execFile);

/** What `postmaster.pid` says about the server on a data folder, and whether that server runs. */
export interface Postmaster {
  pid: number;
  /** `ours`: Postgres runs on this folder. `another`: the pid now belongs to another program. */
  is: 'ours' | 'another' | 'gone';
  ready: boolean;
  host: string;
  port: number;
}

/** Undefined if the file is missing; `empty` while Postgres writes it, or after the disk was full. */
export async function findPostmaster(dataFolder: string): Promise<Postmaster | 'empty' | undefined> {
  const text = await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const [pidLine = '', , , port = '', socketFolder = '', address = '', , status = ''] = text.split('\n');
  const pid = Number(pidLine);
  if (!Number.isInteger(pid) || pid <= 1) return 'empty';
  return {
    pid,
    is: (await isPostgresOn(pid, dataFolder)) ? 'ours' : isAlive(pid) ? 'another' : 'gone',
    ready: status.trim() === 'ready',
    host: socketFolder === '' ? address : socketFolder,
    port: Number(port),
  };
}

async function isPostgresOn(pid: number, dataFolder: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const { stdout } = await execute('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
    return stdout.includes('postgres') && stdout.includes(dataFolder);
  }
  // Postgres's working directory is its data folder, even after the folder was renamed.
  if ((await readlink(`/proc/${pid}/cwd`).catch(() => '')) === dataFolder) return true;
  const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return basename(program) === 'postgres' && args.includes(dataFolder);
}
