import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { lchown, lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../errors.ts';

const executeFile = promisify(execFile);

/** Runs programs that refuse to run as root. */
export interface Unprivileged {
  /** Runs a program and waits for its end. */
  execute(file: string, args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Starts a program that outlives this process, in its own session: Ctrl-C does not reach it. */
  start(file: string, args: string[], options: StartOptions): ChildProcess;
  /** Changes the owner of a path and all below it to the user that runs the programs, if that is another user. */
  own(path: string): Promise<void>;
}

export interface StartOptions {
  /** File descriptor for its output. */
  output: number;
  env: Record<string, string>;
}

/**
 * Postgres refuses root. In a user namespace root looks unprivileged but still owns its files: no user is created, and
 * a private home folder works. Where namespaces are forbidden, we use an unprivileged user of the machine.
 */
export async function findUnprivileged(): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return asOurselves();
  const namespaces = await executeFile('unshare', ['--user', 'true']).then(
    () => true,
    () => false,
  );
  return namespaces ? inUserNamespace() : asUser(await findUser(['postgres', 'nobody']));
}

function asOurselves(): Unprivileged {
  return {
    execute: (file, args) => executeFile(file, args, surroundings()),
    start: (file, args, options) => launch(file, args, options),
    own: async () => {},
  };
}

function inUserNamespace(): Unprivileged {
  return {
    execute: (file, args) => executeFile('unshare', ['--user', file, ...args], surroundings()),
    start: (file, args, options) => launch('unshare', ['--user', file, ...args], options),
    // Files have another owner if the folder was used before namespaces were allowed.
    own: async (path) => {
      for (const entry of [path, ...(await readdir(path)).map((name) => join(path, name))]) {
        const { uid } = await lstat(entry).catch(ifMissing({ uid: 0 }));
        if (uid !== 0) return ownAll(path, 0, 0);
      }
    },
  };
}

export function asUser({ name, uid, gid }: { name: string; uid: number; gid: number }): Unprivileged {
  const refused = (path: string) =>
    new StartError(
      `Postgres refuses to run as root, and the user ${name} cannot get to ${path}.\n` +
        'Start Heliograph as another user, or move it and HELIOGRAPH_DATA_DIR to folders that every user can enter.',
    );
  const execute: Unprivileged['execute'] = (file, args) =>
    executeFile(file, args, { ...surroundings(), uid, gid }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EACCES' ? refused(file) : error;
    });
  return {
    execute,
    start: (file, args, options) => launch(file, args, { ...options, uid, gid }),
    async own(path) {
      await ownAll(path, uid, gid);
      await execute('test', ['-x', join(path, '.')]).catch(() => {
        throw refused(path);
      });
    },
  };
}

function launch(
  file: string,
  args: string[],
  { output, env, ...user }: StartOptions & { uid?: number; gid?: number },
): ChildProcess {
  const { cwd, env: ours } = surroundings();
  return spawn(file, args, {
    cwd,
    env: { ...ours, ...env },
    detached: true,
    stdio: ['ignore', output, output],
    ...user,
  });
}

/** Variables to pass on. Postgres inherits no secret and no variable that names another database. */
const inherited =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TZ|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT)$|^(LC_|DYLD_)/i;

function surroundings(): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: '/', env: Object.fromEntries(Object.entries(process.env).filter(([name]) => inherited.test(name))) };
}

/** Changes links themselves, not their targets: a former owner of the folder may have planted one. */
async function ownAll(path: string, uid: number, gid: number): Promise<void> {
  try {
    await lchown(path, uid, gid);
    if (!(await lstat(path)).isDirectory()) return;
    for (const entry of await readdir(path)) await ownAll(join(path, entry), uid, gid);
  } catch (error) {
    ifMissing(undefined)(error);
  }
}

/** A server that starts or stops adds and removes files at the same time. */
function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return value;
  };
}

async function findUser(names: string[]): Promise<{ name: string; uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const found = lines.find(([login]) => login === name);
    if (found !== undefined) return { name, uid: Number(found[2]), gid: Number(found[3]) };
  }
  return { name: 'nobody', uid: 65534, gid: 65534 };
}
