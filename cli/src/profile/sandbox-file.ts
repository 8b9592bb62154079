import { join } from 'node:path';
import type { SandboxCredentials } from '../../../src/registry/demo-applications.ts';
import type { Environment } from '../environment.ts';
import { readPrivateFile } from './private-file.ts';

/** What the first start of a sandbox in this folder has written. Undefined if there was none. */
export function readSandboxFile({ dataFolder }: Environment): SandboxCredentials | undefined {
  const found = readPrivateFile(join(dataFolder, 'sandbox-credentials.json')) as
    | Partial<SandboxCredentials>
    | undefined;
  if (typeof found?.base_url !== 'string' || !Array.isArray(found.applications)) return undefined;
  return found as SandboxCredentials;
}

/** The service names its realm in the address for tokens. */
export function realmOf(tokenUrl: string): string | undefined {
  return /\/realms\/([^/]+)\/protocol\//.exec(tokenUrl)?.[1];
}
