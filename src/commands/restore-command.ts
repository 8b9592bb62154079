import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkBackup, restoreBackup } from '../backup/restore-backup.ts';
import { afterRestore, type RestoredStore } from '../compose/after-restore.ts';
import { eventTables, recordTables } from '../compose/partitioned-tables.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { readOwnMigrations } from '../platform/database/migrate.ts';
import { StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { readVersion } from '../platform/version.ts';
import type { Config } from '../settings/settings.ts';

export interface RestoreParts {
  config: Config;
  clock: Clock;
  say: (text: string) => void;
  interrupted: AbortSignal;
  /** Opens the database, if no service uses it. */
  openStore: () => Promise<{ database: Database }>;
}

interface Wanted {
  path: string;
  replace: boolean;
  trustCredentials: boolean;
}

/** `npm run restore -- <file>`: all nodes must be stopped. */
export async function runRestore(args: string[], parts: RestoreParts): Promise<string> {
  const { config, clock, say } = parts;
  const { path, replace, trustCredentials } = readArguments(args);
  const file = {
    path,
    clock,
    say,
    secrets: await readSecrets(config),
    migrations: await readOwnMigrations(),
    version: readVersion(),
  };
  say(`Checking ${path}.`);
  const checked = await checkBackup(file);
  const { made_at: madeAt } = checked.header;
  const { database } = await parts.openStore();
  say(`Restoring ${checked.rows.toLocaleString('en')} rows, as they were at ${madeAt}.`);
  let restored: RestoredStore | undefined;
  await restoreBackup({
    ...file,
    database,
    checked,
    replace,
    partitionedTables: [...recordTables, ...eventTables],
    afterwards: async (tx) => {
      restored = await afterRestore(tx, { clock, madeAt, trustCredentials });
    },
    interrupted: parts.interrupted,
  });
  return report(madeAt, trustCredentials, restored);
}

function readArguments(args: string[]): Wanted {
  const files = args.filter((arg) => !arg.startsWith('-'));
  const options = args.filter((arg) => arg.startsWith('-'));
  const unknown = options.filter((option) => option !== '--replace' && option !== '--trust-credentials');
  const [name] = files;
  if (name === undefined || name === '' || files.length > 1 || unknown.length > 0)
    throw new StartError(
      `Give one file: ${toRun('restore', 'heliograph-2026-11-16.backup')}\n` +
        'Options: --replace deletes what the database holds; --trust-credentials suspends no API key and no client secret.',
    );
  const [replace, trustCredentials] = [options.includes('--replace'), options.includes('--trust-credentials')];
  return { path: resolve(name), replace, trustCredentials };
}

/** Do not generate a secret here: a new one would open nothing. */
async function readSecrets({ secret, previousSecret, dataDir }: Config): Promise<string[]> {
  const own = secret ?? (await readFile(join(dataDir, 'secret'), 'utf8').catch(() => '')).trim();
  return [own, previousSecret ?? ''].filter((each) => each !== '');
}

function report(madeAt: string, trusted: boolean, restored: RestoredStore | undefined): string {
  const { texts = 0, verifications = 0, credentials = 0 } = restored ?? {};
  const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
  return [
    '',
    `The backup is restored. Records are as they were at ${madeAt}; what happened since is lost.`,
    '',
    `  ${counted(texts, 'text')} that waited to be sent: now \`unknown\`, because they may have been sent since the backup. None is sent again.`,
    `  ${counted(verifications, 'pending verification')}: canceled.`,
    '  All sessions, one-time links and invitations have ended.',
    ...(trusted
      ? [
          '  WARNING: all API keys, client secrets and tokens of that time work, also those that were deleted or revoked since.',
          '  Passwords and second factors are those of that time. Delete and reset what has changed since.',
        ]
      : [
          `  ${counted(credentials, 'credential')} (API keys, client secrets): suspended, until the owner or an operator enables them in the portal.`,
          '  Every token has ended: the next start makes a new signing key.',
          '  Passwords and second factors are those of that time. Reset what has changed since.',
        ]),
    '',
    `Start the service: ${toRun('start').replace('npm run start', 'npm start')}`,
    '',
  ].join('\n');
}
