import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { newId } from '../platform/ids.ts';
import { apis } from './application.ts';
import type { RegistryService } from './registry-service.ts';

export interface SandboxCredentials {
  base_url: string;
  token_url: string;
  applications: {
    plan: 'enterprise' | 'free';
    application_id: string;
    api_key: string;
    client_id: string;
    client_secret: string;
  }[];
}

const owner = 'demo@sandbox.invalid';

/**
 * The first sandbox start makes two applications to play with, each registered for all three APIs. Their throwaway
 * credentials go to a file before the commit: after a crash in between, the next start simply makes others. Returns
 * undefined when they are there already.
 */
export async function makeDemoApplications(options: {
  database: Database;
  clock: Clock;
  registry: RegistryService;
  dataDir: string;
  baseUrl: string;
  tokenUrl: string;
}): Promise<SandboxCredentials | undefined> {
  const { database, clock, registry, dataDir, baseUrl, tokenUrl } = options;
  return database.transaction(async (tx) => {
    const accountId = newId('acc', clock);
    const { count } = await tx.query(
      'insert into account (id, email, created_at) values ($1, $2, $3) on conflict (lower(email)) do nothing',
      [accountId, owner, toTimestamp(clock.nowMs())],
    );
    if (count === 0) return undefined;
    const credentials: SandboxCredentials = { base_url: baseUrl, token_url: tokenUrl, applications: [] };
    for (const plan of ['enterprise', 'free'] as const) {
      const { id } = await registry.createApplication(tx, accountId, `Demo ${plan}`);
      const shown = { plan, application_id: id, api_key: '', client_id: '', client_secret: '' };
      for (const api of apis) {
        const { credential } = await registry.register(tx, id, api, plan);
        if (credential?.type === 'api_key') shown.api_key = credential.apiKey;
        if (credential?.type === 'client') {
          shown.client_id = credential.clientId;
          shown.client_secret = credential.clientSecret;
        }
      }
      credentials.applications.push(shown);
    }
    await writeCredentials(dataDir, credentials);
    return credentials;
  });
}

export function credentialsFile(dataDir: string): string {
  return join(dataDir, 'sandbox-credentials.json');
}

async function writeCredentials(dataDir: string, credentials: SandboxCredentials): Promise<void> {
  const path = credentialsFile(dataDir);
  await writeFile(`${path}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
