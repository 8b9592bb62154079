// The system programs that tests need: finds them, installs them where possible, or names what is missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const needs = [
  { program: 'redis-server', why: 'several nodes share their limits by it', debian: ['redis-server'] },
  { program: 'chromium', why: 'the pages of the portal are tried in it', debian: ['chromium', 'fonts-liberation'] },
];

/** Returns one sentence for each program that is missing and could not be installed. */
export function provideSystemNeeds(): string[] {
  const missing = needs.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0) return [];
  const packages = missing.flatMap(({ debian }) => debian);
  if (isInstalled('apt-get') && process.getuid?.() === 0) {
    console.log(`Tests are installing ${packages.join(', ')} (apt-get).`);
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  }
  return missing
    .filter(({ program }) => !isInstalled(program))
    .map(({ program, why, debian }) => `${program} is not installed, and ${why}: apt-get install ${debian.join(' ')}`);
}

/** With RUNLEVEL=1 apt-get installs packages without starting their services. */
function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
