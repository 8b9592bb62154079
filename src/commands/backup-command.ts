import { resolve } from 'node:path';
import { inWords } from '../backup/progress.ts';
import { takeBackup } from '../backup/take-backup.ts';
import { eventTables, recordTables } from '../compose/partitioned-tables.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { readVersion } from '../platform/version.ts';
import type { Config } from '../settings/settings.ts';

export interface BackupParts {
  config: Config;
  clock: Clock;
  database: Database;
  secret: string;
  say: (text: string) => void;
  interrupted: AbortSignal;
}

/** `npm run backup -- <file>`: beside a running service, or alone. */
export async function runBackup(args: string[], parts: BackupParts): Promise<string> {
  const [name, ...more] = args;
  if (name === undefined || name === '' || name.startsWith('-') || more.length > 0)
    throw new StartError(`Give one file name: ${toRun('backup', 'heliograph-2026-11-16.backup')}`);
  const { config, say } = parts;
  const path = resolve(name);
  say(`Writing a backup to ${path}.`);
  const { tables, rows, bytes } = await takeBackup({
    ...parts,
    path,
    version: readVersion(),
    environment: config.environment,
    partitionedTables: [...recordTables, ...eventTables],
  });
  return [
    '',
    `The backup is complete: ${rows.toLocaleString('en')} rows of ${tables} tables, ${inWords(bytes)}.`,
    'It is encrypted: reading it needs the secret as well as the file.',
    config.secret === undefined
      ? `To restore it you also need ${resolve(config.dataDir, 'secret')}. Keep a copy of that file apart from the backups.`
      : 'To restore it you also need HELIOGRAPH_SECRET. Keep it apart from the backups.',
    '',
  ].join('\n');
}
