import { createRetention } from './messages/retention.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import type { Chore } from './platform/maintenance.ts';
import { createPortalUpkeep } from './portal/portal-upkeep.ts';
import { createVerificationRetention } from './verify/verification-retention.ts';

export interface ChoreOptions {
  config: Config;
  database: Database;
  clock: Clock;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** The table of contents of the upkeep: every chore with its pause; the statement is beside the table's store. */
export function createChores({ config, database, clock }: ChoreOptions): Chore[] {
  const messages = createRetention(database, clock, config.retentionDays);
  const verifications = createVerificationRetention(database, clock, config.retentionDays);
  const portal = createPortalUpkeep(database, clock);
  return [
    { name: 'mask-messages', everyMs: hourMs, runPiece: messages.maskOld },
    { name: 'mask-verifications', everyMs: hourMs, runPiece: verifications.maskOld },
    { name: 'dead-sessions', everyMs: minuteMs, runPiece: portal.deleteDeadSessions },
    { name: 'dead-links', everyMs: hourMs, runPiece: portal.deleteDeadLinks },
    { name: 'old-known-addresses', everyMs: hourMs, runPiece: portal.deleteOldAddresses },
    { name: 'old-sign-in-tries', everyMs: minuteMs, runPiece: portal.deleteOldTries },
  ];
}
