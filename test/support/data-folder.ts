import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where a run keeps the files of a Postgres in whose database every migration has run. */
const migratedIn = (runFolder: string) => join(runFolder, 'migrated-postgres');

/** For the runner, once, with the folder of a Postgres that has stopped. */
export function keepMigratedPostgres(folder: string, runFolder: string): void {
  copy(folder, migratedIn(runFolder));
}

/**
 * Gives a data folder its Postgres, if it has none: creating one and running the migrations takes two seconds of CPU, and
 * copying one a tenth. The service makes everything else itself, such as its secret, key ring and demo applications.
 */
export function provideMigratedPostgres(dataDir: string): void {
  const migrated = migratedIn(process.env.HELIOGRAPH_TEST_FOLDER ?? '');
  const folder = join(dataDir, 'postgres');
  if (existsSync(migrated) && isFolder(dataDir) && !existsSync(folder)) copy(migrated, folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** With owners and modes, on which Postgres insists. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}
