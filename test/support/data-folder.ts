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
  if (isFolder(dataDir)) copyMigratedPostgres(join(dataDir, 'postgres'));
}

/** Whether the run that this process is a part of has one, and there was none in the folder. */
export function copyMigratedPostgres(folder: string): boolean {
  const migrated = migratedIn(process.env.HELIOGRAPH_TEST_FOLDER ?? '');
  if (!existsSync(migrated) || existsSync(folder)) return false;
  copy(migrated, folder);
  return true;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** With owners and modes, on which Postgres insists. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}
