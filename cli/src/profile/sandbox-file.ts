import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxCredentials } from '../../../src/registry/demo-applications.ts';
import type { Environment } from '../process/environment.ts';
import { isOnThisMachine, readUrl } from './address.ts';

/** The credentials that the first start of a sandbox in this folder has written. */
export interface SandboxFile {
  path: string;
  credentials?: SandboxCredentials;
  /** Why the file is not used, and what to do. Also undefined if there is no file. */
  unfit?: { reason: string; next: string };
}

const longestFile = 64 * 1024;
const byAddress = 'give the address of the service: --url or HELIOGRAPH_URL';

/** A folder may come from others. Its file is used only if only this user can write it, and its address is local. */
export function readSandboxFile({ dataFolder, userId }: Environment): SandboxFile {
  const path = join(dataFolder, 'sandbox-credentials.json');
  const unfit = (reason: string, next: string) => ({ path, unfit: { reason, next } });
  let file: number;
  try {
    // Opening a pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return { path };
    return unfit('it cannot be read', `Correct that, or ${byAddress}.`);
  }
  try {
    const found = fstatSync(file);
    const { uid, mode, size } = found;
    if (!found.isFile()) return unfit('it is not a file', `Move it away, or ${byAddress}.`);
    // Windows has no user ids and file modes.
    if (userId !== undefined && uid !== userId)
      return unfit('it belongs to another user', `Start a sandbox in a folder of your own, or ${byAddress}.`);
    if (userId !== undefined && (mode & 0o077) !== 0)
      return unfit(
        'other users have permissions on it',
        `If you trust its content, run \`chmod 600 ${path}\`; or ${byAddress}.`,
      );
    const credentials = size > longestFile ? undefined : parse(readFileSync(file, 'utf8'));
    if (credentials === undefined) return unfit('it does not contain credentials', `Move it away, or ${byAddress}.`);
    const url = readUrl(credentials.base_url);
    if (url === undefined || !isOnThisMachine(url))
      return unfit(`its address ${url ?? ''} is not on this machine`, `Run \`heliograph login\`, or ${byAddress}.`);
    return { path, credentials };
  } finally {
    closeSync(file);
  }
}

function parse(text: string): SandboxCredentials | undefined {
  try {
    const found = JSON.parse(text) as Partial<SandboxCredentials> | null;
    const isRight = typeof found?.base_url === 'string' && Array.isArray(found.applications);
    return isRight ? (found as SandboxCredentials) : undefined;
  } catch {
    return undefined;
  }
}

/** The service names its realm in the address for tokens. */
export function realmOf(tokenUrl: string): string | undefined {
  return /\/realms\/([^/]+)\/protocol\//.exec(tokenUrl)?.[1];
}
