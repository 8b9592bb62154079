import type { SandboxCredentials } from '../../../src/registry/demo-applications.ts';
import type { Environment } from '../environment.ts';
import { usageError } from '../exit.ts';
import type { Values } from '../values.ts';
import { findByUrl, type Profile, readProfiles } from './profiles.ts';
import { readSandboxFile } from './sandbox-file.ts';

/** Which service is meant, how we know, and what is kept about it. */
export interface Place {
  url: string;
  found: 'by --url' | 'by HELIOGRAPH_URL' | 'in the profile' | 'in the sandbox of this folder' | 'by default';
  /** Only a profile of this very address: its secrets belong to no other. */
  profile: ({ name: string } & Profile) | undefined;
  /** Only of this very address, too. */
  sandbox: SandboxCredentials | undefined;
}

const defaultUrl = 'http://127.0.0.1:8080';

export function findPlace(values: Pick<Values, 'text'>, environment: Environment): Place {
  const profiles = readProfiles(environment);
  const sandboxFile = readSandboxFile(environment);
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
    sandbox: sandboxFile !== undefined && readUrl(sandboxFile.base_url) === url ? sandboxFile : undefined,
  };

  function chooseUrl(): Pick<Place, 'url' | 'found'> {
    const option = values.text('url');
    if (option !== undefined) return { url: requireUrl(option, '--url'), found: 'by --url' };
    const variable = environment.read('HELIOGRAPH_URL');
    if (variable !== undefined) return { url: requireUrl(variable, 'HELIOGRAPH_URL'), found: 'by HELIOGRAPH_URL' };
    const kept = chosen === undefined ? undefined : profiles.profiles[chosen]?.url;
    if (kept !== undefined) return { url: requireUrl(kept, `The profile ${chosen}`), found: 'in the profile' };
    const local = sandboxFile === undefined ? undefined : readUrl(sandboxFile.base_url);
    if (local !== undefined) return { url: local, found: 'in the sandbox of this folder' };
    return { url: defaultUrl, found: 'by default' };
  }
}

/** The address as it is compared and kept; undefined if it is none. */
export function readUrl(text: string): string | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export function requireUrl(text: string, where: string): string {
  const url = readUrl(text);
  if (url === undefined)
    throw usageError(`${where} must be an address like https://sms.example.com or http://127.0.0.1:8080.`);
  return url;
}

/** Whether what we send there can be read on the way. */
export function isOpenToReaders(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(127\.|\[::1\]$|localhost$)/.test(hostname);
}

function noProfile(name: string, known: readonly string[]): Error {
  const others = known.length === 0 ? 'There is none yet' : `There are: ${known.join(', ')}`;
  return usageError(
    `There is no profile ${name}. ${others}.`,
    `Run \`heliograph login --profile ${name}\` to make it.`,
  );
}
