import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { projectFolder } from './project-folder.ts';

/**
 * What a reader types to run one of our commands: in the project's folder `npm run forget -- <number>`, with the installed
 * package `npx heliograph forget <number>`.
 */
export function toRun(command: string, args = ''): string {
  if (isProject()) return `npm run ${command}${args === '' ? '' : ` -- ${args}`}`;
  // Without --local the command line asks the service, as an operator who signed in.
  return [`npx ${packageName()}`, command, ...(command === 'carriers' ? ['--local'] : []), args].join(' ').trimEnd();
}

/** A line for the command line that finds this sandbox. `--no-install` never downloads another package of that name. */
export function toCall(args: string, dataDir: string): string {
  const folder = dataDir === resolve('.heliograph') ? '' : `HELIOGRAPH_DATA_DIR='${dataDir.replaceAll("'", `'\\''`)}' `;
  const name = packageName();
  return `${folder}npx ${name === 'heliograph' ? '--no-install ' : ''}${name} ${args}`;
}

/** How to install what is missing. */
export function toInstall(): string {
  return isProject() ? 'npm ci' : 'npm install';
}

/** The package has no sources. */
function isProject(): boolean {
  return existsSync(new URL('src', projectFolder));
}

/** The package as npx was given it, such as `./heliograph-1.0.0.tgz`: the folder that npx installs into records it. */
function packageName(): string {
  if (!projectFolder.pathname.includes('/_npx/')) return 'heliograph';
  try {
    const file = JSON.parse(readFileSync(new URL('../../package.json', projectFolder), 'utf8'));
    return file._npx.packages[0];
  } catch {
    return 'heliograph';
  }
}
