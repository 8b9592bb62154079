import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Tx } from '../platform/database/database.ts';
import { apis } from './application.ts';
import type { RegistryService } from './registry-service.ts';

export interface SandboxCredentials {
  base_url: string;
  token_url: string;
  /** The demo account, which owns the applications below. */
  portal: { email: string; password: string };
  applications: {
    plan: 'enterprise' | 'free';
    application_id: string;
    api_key: string;
    client_id: string;
    client_secret: string;
  }[];
}

/** A new account that is not inserted yet. */
export interface DemoOwner {
  email: string;
  password: string;
  /** Returns the account's id, or undefined if another node inserted it first. */
  insert(tx: Tx): Promise<string | undefined>;
}

/** RFC 2606 reserves `.invalid`: no person can have this address. */
export const demoEmail = 'demo@sandbox.invalid';

/**
 * The first sandbox start creates an account with two demo applications, each registered for all three APIs. It writes
 * their credentials to a file before the commit: after a crash in between, the next start creates new ones. Returns
 * undefined if they exist.
 */
export async function makeDemoApplications(options: {
  database: Database;
  registry: RegistryService;
  /** Undefined if the e-mail address already has an account. */
  prepareOwner: (email: string) => Promise<DemoOwner | undefined>;
  dataDir: string;
  baseUrl: string;
  tokenUrl: string;
}): Promise<SandboxCredentials | undefined> {
  const { database, registry, dataDir, baseUrl, tokenUrl } = options;
  const owner = await options.prepareOwner(demoEmail);
  if (owner === undefined) return undefined;
  return database.transaction(async (tx) => {
    const accountId = await owner.insert(tx);
    if (accountId === undefined) return undefined;
    const portal = { email: owner.email, password: owner.password };
    const credentials: SandboxCredentials = { base_url: baseUrl, token_url: tokenUrl, portal, applications: [] };
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

/** The settings of the client, for `node --env-file`. */
export function settingsFile(dataDir: string): string {
  return join(dataDir, 'sandbox.env');
}

async function writeCredentials(dataDir: string, credentials: SandboxCredentials): Promise<void> {
  const [first] = credentials.applications;
  const settings = {
    HELIOGRAPH_URL: credentials.base_url,
    HELIOGRAPH_API_KEY: first?.api_key,
    HELIOGRAPH_CLIENT_ID: first?.client_id,
    HELIOGRAPH_CLIENT_SECRET: first?.client_secret,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writePrivate(settingsFile(dataDir), lines.join(''));
  await writePrivate(credentialsFile(dataDir), `${JSON.stringify(credentials, null, 2)}\n`);
}

async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
