// The system programs that tests need: finds them, installs them where possible, or names what is missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { leadsTo } from './test-files.ts';

export interface SystemNeed {
  program: string;
  why: string;
  /** What a reader types to get it. */
  how: string;
  debian: string[];
  /** Test files that lead to this one need the program. */
  usedBy: string;
  find(): string | undefined;
}

const needs: SystemNeed[] = [
  {
    program: 'redis-server',
    why: 'nodes share their rate limits through it',
    how: 'apt-get install redis-server (Debian), brew install redis (macOS)',
    debian: ['redis-server'],
    usedBy: 'test/support/redis.ts',
    find: () => findInPath('redis-server'),
  },
  {
    program: 'chromium',
    why: 'the portal is tested in it',
    how: 'apt-get install chromium fonts-liberation (Debian), or CHROMIUM=/path/of/chrome npm test',
    debian: ['chromium', 'fonts-liberation'],
    usedBy: 'test/browser/browser.ts',
    find: findChromium,
  },
  {
    program: 'Net::SMPP',
    why: 'a client of others talks to our SMSC',
    how: 'apt-get install libnet-smpp-perl (Debian), cpan Net::SMPP',
    debian: ['libnet-smpp-perl'],
    usedBy: 'test/smpp/net-smpp.ts',
    find: findNetSmpp,
  },
  {
    program: 'tshark',
    why: 'it judges whether our SMPP is well-formed',
    how: 'apt-get install tshark (Debian), brew install wireshark (macOS)',
    debian: ['tshark'],
    usedBy: 'test/smpp/tshark.ts',
    find: () => findInPath('tshark'),
  },
];

/** The programs that these test files use, by their imports or by a script that they start. */
export function programsFor(files: string[]): SystemNeed[] {
  return needs.filter(({ usedBy }) => files.some((file) => leadsTo(file, usedBy)));
}

/** Installs what is missing where that is possible, and returns what is still missing. */
export function provide(wanted: SystemNeed[]): SystemNeed[] {
  const missing = wanted.filter(({ find }) => find() === undefined);
  if (missing.length === 0) return [];
  const packages = missing.flatMap(({ debian }) => debian);
  if (findInPath('apt-get') !== undefined && process.getuid?.() === 0) {
    console.log(`Installing for the tests: ${packages.join(', ')} (apt-get).`);
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  }
  return missing.filter(({ find }) => find() === undefined);
}

/** Debian's name, or another system's; a machine that has it elsewhere says where. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  if (named !== undefined) return isProgram(named) ? named : undefined;
  return findInPath('chromium') ?? findInPath('chromium-browser') ?? findInPath('google-chrome');
}

/** A module of Perl, not a program: Perl knows where it looks for it. */
function findNetSmpp(): string | undefined {
  const perl = findInPath('perl');
  if (perl === undefined) return undefined;
  const { status, stdout } = spawnSync(perl, ['-MNet::SMPP', '-e', 'print $INC{"Net/SMPP.pm"}'], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/** With RUNLEVEL=1 apt-get installs packages without starting their services. */
function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function findInPath(program: string): string | undefined {
  const places = (process.env.PATH ?? '').split(':').map((folder) => join(folder, program));
  return places.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
