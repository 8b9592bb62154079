// The system programs that tests need: finds them, installs them where possible, or names what is missing.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { leadsTo } from './test-files.ts';

export interface SystemNeed {
  program: string;
  why: string;
  /** What a reader types to get it. */
  how: string;
  debian: string[];
  /** Where the system's lists do not have these packages. */
  otherwise?: string[];
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
    how: 'apt-get install chromium-headless-shell fonts-liberation (Debian), or CHROMIUM=/path/of/chrome npm test',
    debian: ['chromium-headless-shell', 'fonts-liberation'],
    otherwise: ['chromium', 'fonts-liberation'],
    usedBy: 'test/browser/browser.ts',
    find: findChromium,
  },
  {
    program: 'Net::SMPP',
    why: 'others than we wrote the SMPP that ours talks to',
    how: 'apt-get install libnet-smpp-perl (Debian), cpan Net::SMPP',
    debian: ['libnet-smpp-perl'],
    usedBy: 'test/smpp/net-smpp.ts',
    find: findNetSmpp,
  },
  {
    program: 'drive_smpp',
    why: 'an SMSC of others (of Kannel) talks to our sessions',
    how: 'apt-get install kannel-extras (Debian)',
    debian: ['kannel-extras'],
    usedBy: 'test/smpp/kannel.ts',
    find: findDriveSmpp,
  },
  {
    program: 'bearerbox',
    why: 'Kannel binds to us and sends through us',
    how: 'apt-get install kannel (Debian)',
    debian: ['kannel'],
    usedBy: 'test/smpp-server/kannel-gateway.ts',
    find: () => findInPath('bearerbox') ?? findInPath('../sbin/bearerbox'),
  },
  {
    program: 'tshark',
    why: 'it judges whether our SMPP is well-formed',
    how: 'apt-get install tshark (Debian), brew install wireshark (macOS)',
    debian: ['tshark'],
    usedBy: 'test/smpp/tshark.ts',
    find: () => findInPath('tshark'),
  },
  {
    program: 'tmux',
    why: 'the command line is used in a real terminal',
    how: 'apt-get install tmux (Debian), brew install tmux (macOS)',
    debian: ['tmux'],
    usedBy: 'test/cli/terminal.ts',
    find: () => findInPath('tmux'),
  },
  {
    program: 'haproxy',
    why: 'two nodes run behind it, by the configuration of deploy/',
    how: 'apt-get install haproxy (Debian), brew install haproxy (macOS)',
    debian: ['haproxy'],
    usedBy: 'test/deploy/haproxy.ts',
    find: () => findInPath('haproxy') ?? findInPath('../sbin/haproxy'),
  },
  {
    program: 'patroni',
    why: 'the drills of the long tests lose its primary again and again',
    how: 'apt-get install patroni python3-etcd etcd-server postgresql-15 haproxy (Debian)',
    debian: ['patroni', 'python3-etcd', 'etcd-server', 'postgresql-15', 'haproxy'],
    usedBy: 'test/support/ha-world.ts',
    find: () => findInPath('etcd') && findInPath('patroni'),
  },
  {
    program: 'python3-twilio',
    why: "Twilio's own library for Python calls the service",
    how: 'apt-get install python3-twilio (Debian)',
    debian: ['python3-twilio'],
    usedBy: 'test/twilio/python.ts',
    find: () => findPythonPackage('twilio'),
  },
  {
    program: 'python3',
    why: 'the client in Python is tested by it, with the package cryptography for its proofs',
    how: 'apt-get install python3 python3-cryptography (Debian), or pip install cryptography',
    debian: ['python3', 'python3-cryptography'],
    usedBy: 'test/clients/python.ts',
    find: () => findPythonPackage('cryptography'),
  },
  {
    program: 'go',
    why: 'its templates are those of the chart in deploy/',
    how: 'apt-get install golang-go golang-github-masterminds-sprig-dev (Debian)',
    debian: ['golang-go', 'golang-github-masterminds-sprig-dev'],
    usedBy: 'test/deploy/chart/go.ts',
    find: () => (existsSync('/usr/share/gocode/src/github.com/Masterminds/sprig') ? findInPath('go') : undefined),
  },
  {
    program: 'promtool',
    why: 'it tries the rules of deploy/ on made-up series',
    how: 'apt-get install prometheus (Debian), brew install prometheus (macOS)',
    debian: ['prometheus'],
    usedBy: 'test/deploy/promtool.ts',
    find: () => findInPath('promtool'),
  },
  {
    program: 'jsonnet',
    why: 'Ory Kratos makes what it posts to a hook by a template in jsonnet',
    how: 'apt-get install jsonnet (Debian), brew install go-jsonnet (macOS)',
    debian: ['jsonnet'],
    usedBy: 'test/integrations/jsonnet.ts',
    find: () => findInPath('jsonnet'),
  },
];

/** The programs that these test files use, by their imports or by a script that they start. */
export function programsFor(files: string[]): SystemNeed[] {
  return needs.filter(({ usedBy }) => files.some((file) => leadsTo(file, usedBy)));
}

export function findMissing(wanted: SystemNeed[]): SystemNeed[] {
  return wanted.filter(({ find }) => find() === undefined);
}

/** On a Debian machine, as root. */
export function canInstall(): boolean {
  return findInPath('apt-get') !== undefined && process.getuid?.() === 0;
}

/** Installs what is missing where that is possible, and returns what is still missing. */
export async function provide(wanted: SystemNeed[]): Promise<SystemNeed[]> {
  const missing = findMissing(wanted);
  if (missing.length === 0) return [];
  if (canInstall()) {
    console.log(`Installing for the tests: ${missing.flatMap(({ debian }) => debian).join(', ')} (apt-get).`);
    await apt('update', '-qq');
    await install(missing.flatMap(({ debian }) => debian));
    // apt-get installs nothing at all when it does not know one of the names: then they are tried one by one.
    for (const { debian, otherwise, find } of missing) {
      if (find() === undefined) await install(debian);
      if (otherwise !== undefined && find() === undefined) await install(otherwise);
    }
  }
  return findMissing(missing);
}

/** Its form without windows takes half of the CPU. Debian's name, or another system's; CHROMIUM names another place. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  if (named !== undefined) return isProgram(named) ? named : undefined;
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  return names.map(findInPath).find((path) => path !== undefined);
}

/** A module of Perl, not a program: Perl knows where to find it. */
function findNetSmpp(): string | undefined {
  const perl = findInPath('perl');
  if (perl === undefined) return undefined;
  const { status, stdout } = spawnSync(perl, ['-MNet::SMPP', '-e', 'print $INC{"Net/SMPP.pm"}'], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/** A library of Debian's own Python. */
function findPythonPackage(name: string): string | undefined {
  const { status, stdout } = spawnSync('/usr/bin/python3', ['-c', `import ${name}; print(${name}.__file__)`], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout : undefined;
}

/** Debian keeps it beside Kannel's other tests, outside the path. */
function findDriveSmpp(): string | undefined {
  const path = '/usr/lib/kannel/test/drive_smpp';
  return isProgram(path) ? path : undefined;
}

function install(packages: string[]): Promise<void> {
  return apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
}

/** With RUNLEVEL=1 apt-get installs packages without starting their services. */
function apt(...args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const child = spawn('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve) => child.on('close', () => resolve()));
}

function findInPath(program: string): string | undefined {
  const locations = (process.env.PATH ?? '').split(':').map((folder) => join(folder, program));
  return locations.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
