import type { SandboxCredentials } from '../../../src/registry/demo-applications.ts';
import type { Environment } from '../process/environment.ts';
import { noCredentials, usageError } from '../process/exit.ts';
import type { Values } from '../syntax/values.ts';
import { readUrl, requireUrl } from './address.ts';
import { findByUrl, type Profile, readProfiles } from './profiles.ts';
import { readSandboxFile, type SandboxFile } from './sandbox-file.ts';

/** The service to call, how it was found, and the stored credentials for it. */
export interface Target {
  url: string;
  found: 'by --url' | 'by HELIOGRAPH_URL' | 'in the profile' | 'in the sandbox of this folder' | 'by default';
  /** Only a profile with exactly this address: its secrets must not go elsewhere. */
  profile: ({ name: string } & Profile) | undefined;
  /** Only if the sandbox has exactly this address. */
  sandbox: SandboxCredentials | undefined;
}

const defaultUrl = 'http://127.0.0.1:8080';

export function findTarget(values: Pick<Values, 'text'>, environment: Environment): Target {
  const profiles = readProfiles(environment);
  const sandboxFile = readSandboxFile(environment);
  const { credentials } = sandboxFile;
  const named = values.text('profile') ?? environment.read('HELIOGRAPH_PROFILE');
  if (named !== undefined && !Object.hasOwn(profiles.profiles, named))
    throw noProfile(named, Object.keys(profiles.profiles));
  const chosen = named ?? profiles.current ?? undefined;
  const { url, found } = chooseUrl();
  const name = named !== undefined && profiles.profiles[named]?.url === url ? named : findByUrl(profiles, url);
  const profile = name === undefined ? undefined : profiles.profiles[name];
  return {
    url,
    found,
    profile: name === undefined || profile === undefined ? undefined : { name, ...profile },
    sandbox: credentials !== undefined && readUrl(credentials.base_url) === url ? credentials : undefined,
  };

  function chooseUrl(): Pick<Target, 'url' | 'found'> {
    const option = values.text('url');
    if (option !== undefined) return { url: requireUrl(option, '--url'), found: 'by --url' };
    const variable = environment.read('HELIOGRAPH_URL');
    if (variable !== undefined) return { url: requireUrl(variable, 'HELIOGRAPH_URL'), found: 'by HELIOGRAPH_URL' };
    const kept = chosen === undefined ? undefined : profiles.profiles[chosen]?.url;
    if (kept !== undefined) return { url: requireUrl(kept, `The profile ${chosen}`), found: 'in the profile' };
    // An address by option, variable or profile needs no file in the folder, so a bad file is refused only here.
    if (sandboxFile.unfit !== undefined) throw notUsed(sandboxFile, sandboxFile.unfit);
    const local = credentials === undefined ? undefined : readUrl(credentials.base_url);
    if (local !== undefined) return { url: local, found: 'in the sandbox of this folder' };
    return { url: defaultUrl, found: 'by default' };
  }
}

function notUsed({ path }: SandboxFile, { reason, next }: NonNullable<SandboxFile['unfit']>): Error {
  return noCredentials(`${path} is not used: ${reason}.`, next);
}

function noProfile(name: string, known: readonly string[]): Error {
  const others = known.length === 0 ? 'There is none yet' : `There are: ${known.join(', ')}`;
  return usageError(
    `There is no profile ${name}. ${others}.`,
    `Run \`heliograph login --profile ${name}\` to create it.`,
  );
}
