import { createRetention } from './messages/retention.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import { type Chore, pieceRows } from './platform/maintenance.ts';
import { createVerificationRetention } from './verify/verification-retention.ts';
import { expireSome } from './verify/verification-store.ts';

export interface ChoreOptions {
  config: Config;
  database: Database;
  clock: Clock;
}

const hourMs = 3_600_000;

/** The table of contents of the upkeep: every chore with its pause; the statement is beside the table's store. */
export function createChores({ config, database, clock }: ChoreOptions): Chore[] {
  const messages = createRetention(database, clock, config.retentionDays);
  const verifications = createVerificationRetention(database, clock, config.retentionDays);
  return [
    { name: 'mask-messages', everyMs: hourMs, runPiece: messages.maskOld },
    {
      name: 'expire-verifications',
      everyMs: 1000,
      runPiece: () => expireSome(database, pieceRows, clock.nowMs()),
    },
    { name: 'mask-verifications', everyMs: hourMs, runPiece: verifications.maskOld },
  ];
}
