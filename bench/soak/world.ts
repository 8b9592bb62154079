import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRegistered, type TestApplication } from '../../test/support/applications.ts';
import { send, signUp } from '../../test/support/developer.ts';
import { eventually } from '../../test/support/eventually.ts';
import { cleanEnvironment, endServices, program, type Service, startService } from '../../test/support/service.ts';
import type { Carriers } from './carriers.ts';

/** The service as a user starts it, with its carriers and the applications of the load. */
export interface World {
  service: Service;
  /** Sends texts and codes, and listens. No limit stops it. */
  shop: TestApplication;
  /** May send 60 in a second, and tries more. */
  hurried: TestApplication;
  /** May send 60 in a minute, and tries more. */
  frugal: TestApplication;
  /** Its plan, keys and secrets change all the time. */
  changing: TestApplication;
  /** Runs a command on the machine, such as `rotate-keys`; returns what it prints. */
  run(...args: string[]): Promise<string>;
}

export interface WorldOptions {
  dataDir: string;
  carriers: Carriers;
  tokenSeconds: number;
  /** A database that is there already, instead of the embedded one. */
  databaseUrl: string | undefined;
  say(text: string): void;
  /** Gets what ends the service. */
  endings: (() => unknown)[];
}

const plenty = 1_000_000;

/** No limit stops the load on enterprise; on the other two one can see that limits hold. */
export const planNumbers = {
  free: { per_minute: 60, burst: 60 },
  pro: { per_minute: 6000, burst: 60 },
  enterprise: { per_minute: plenty, burst: plenty },
};

export async function startWorld({
  dataDir,
  carriers,
  tokenSeconds,
  databaseUrl,
  say,
  endings,
}: WorldOptions): Promise<World> {
  const env = {
    LOG_LEVEL: 'warn',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    HELIOGRAPH_TOKEN_SECONDS: String(tokenSeconds),
    HELIOGRAPH_PLANS: JSON.stringify(planNumbers),
    HELIOGRAPH_ADDRESS_PER_MINUTE: String(plenty),
    HELIOGRAPH_ADDRESS_BURST: String(plenty),
  };
  say('Starting the service.');
  // In a group of its own, so that Ctrl-C ends the load first. `npm_lifecycle_event` makes it end with this process.
  const service = await startService({
    dataDir,
    command: ['node', 'scripts/run.mjs'],
    asTerminal: true,
    env: { ...env, npm_lifecycle_event: 'start' },
  });
  endings.push(() => endServices());
  await service.ready;
  const run = (...args: string[]) => runCommand(service, { ...env, HELIOGRAPH_DATA_DIR: dataDir }, args);
  say('Connecting the carriers.');
  await connect(service, run, carriers);
  const developer = await signUp(service);
  const register = (plan: string) => createRegistered(service, ['sms', 'verify', 'messaging'], plan, developer);
  return {
    service,
    shop: await register('enterprise'),
    hurried: await register('pro'),
    frugal: await register('free'),
    changing: await register('pro'),
    run,
  };
}

/**
 * By the command that an operator uses. Texts go by both carriers, three of four by the SMSC; a code goes by the other one if
 * its carrier fails.
 */
async function connect(service: Service, run: World['run'], { settings }: Carriers): Promise<void> {
  const file = join(service.dataDir, 'carriers.json');
  const routes = [
    { name: 'codes', match: { apis: ['verify'] }, carriers: [{ carrier: 'provider' }], failover: ['smsc'] },
    {
      name: 'texts',
      carriers: [
        { carrier: 'smsc', weight: 3 },
        { carrier: 'provider', weight: 1 },
      ],
    },
  ];
  writeFileSync(file, JSON.stringify({ carriers: settings, routes }));
  await run('carriers', 'apply', file);
  await eventually('the carriers to be up', async () => {
    const { body } = await send<{ carriers?: Record<string, string> }>(service, 'GET', '/readyz');
    const states = Object.values(body.carriers ?? {});
    return states.length === settings.length && states.every((state) => state === 'up');
  });
}

function runCommand({ url }: Service, env: Record<string, string>, args: string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: new URL('../..', import.meta.url),
    env: { ...cleanEnvironment(), ...env, PORT: new URL(url).port },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${args[0]} ended with ${code}:\n${output}`));
    });
  });
}
