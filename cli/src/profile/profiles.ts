import { join } from 'node:path';
import type { Environment } from '../process/environment.ts';
import { failure } from '../process/exit.ts';
import { readPrivateFile, whileLocked, writePrivateFile } from './private-file.ts';

/** The stored data of one service. */
export interface Profile {
  url: string;
  realm?: string;
  email?: string;
  /** The cookie of the portal's session, as the service set it. */
  session?: string;
  application_id?: string;
  api_key?: string;
  client_id?: string;
  client_secret?: string;
  /** The default sender of texts. */
  from?: string;
}

export interface Profiles {
  /** The name of the profile that `login` opened last. */
  current: string | null;
  profiles: Record<string, Profile>;
}

const fields = ['url', 'realm', 'email', 'session', 'application_id', 'api_key', 'client_id', 'client_secret', 'from'];

export function profilesFile({ configFolder }: Environment): string {
  return join(configFolder, 'profiles.json');
}

export function readProfiles(environment: Environment): Profiles {
  const path = profilesFile(environment);
  const found = readPrivateFile(path);
  if (found === undefined) return { current: null, profiles: {} };
  const { current, profiles } = (found ?? {}) as Partial<Profiles>;
  const isRight =
    typeof profiles === 'object' &&
    profiles !== null &&
    Object.values<unknown>(profiles).every((each) => isProfile(each));
  if (!isRight)
    throw failure(`${path} does not contain profiles.`, 'Correct it or move it away, then run `heliograph login`.');
  return { current: typeof current === 'string' && Object.hasOwn(profiles, current) ? current : null, profiles };
}

function isProfile(value: unknown): value is Profile {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Record<string, unknown>;
  return typeof given.url === 'string' && fields.every((name) => ['string', 'undefined'].includes(typeof given[name]));
}

/** Changes the file under a lock. */
export function changeProfiles(environment: Environment, change: (profiles: Profiles) => void): Promise<void> {
  const path = profilesFile(environment);
  return whileLocked(path, () => {
    const profiles = readProfiles(environment);
    change(profiles);
    writePrivateFile(path, profiles);
  });
}

/** The default name of a profile: its host. */
export function nameFor(url: string): string {
  return new URL(url).host;
}

export function findByUrl({ current, profiles }: Profiles, url: string): string | undefined {
  if (current !== null && profiles[current]?.url === url) return current;
  return Object.keys(profiles).find((name) => profiles[name]?.url === url);
}
