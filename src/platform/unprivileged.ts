import { execFile } from 'node:child_process';
import { chown, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** How to run a program that refuses to run as root. */
export interface Unprivileged {
  execute(file: string, args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Gives a path, and all below it, to the user that `execute` runs as, where that is another one. */
  own(path: string): Promise<void>;
}

/**
 * Postgres refuses root. A user namespace of its own makes root look like nobody to it, while the files stay ours: no
 * user is created, and it works inside a home folder nobody else can enter. Where namespaces are forbidden, an
 * unprivileged user of the machine has to serve.
 */
export async function findUnprivileged(): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return { execute: (file, args) => execute(file, args), own: async () => {} };
  const namespaces = await execute('unshare', ['--user', 'true']).then(
    () => true,
    () => false,
  );
  if (namespaces) {
    return { execute: (file, args) => execute('unshare', ['--user', file, ...args]), own: async () => {} };
  }
  return asUser(await findUser(['postgres', 'nobody']));
}

export function asUser({ uid, gid }: { uid: number; gid: number }): Unprivileged {
  return {
    execute: (file, args) => execute(file, args, { uid, gid, cwd: '/' }),
    own: (path) => ownAll(path, uid, gid),
  };
}

async function ownAll(path: string, uid: number, gid: number): Promise<void> {
  await chown(path, uid, gid);
  if (!(await stat(path)).isDirectory()) return;
  for (const entry of await readdir(path)) await ownAll(join(path, entry), uid, gid);
}

async function findUser(names: string[]): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const found = lines.find(([login]) => login === name);
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) };
  }
  return { uid: 65534, gid: 65534 };
}
