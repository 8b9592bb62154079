import { createSignInUpkeep } from '../../accounts/sign-in/upkeep.ts';
import { createPortalUpkeep } from '../../accounts/upkeep.ts';
import { hourMs, minuteMs } from '../../platform/clock.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** People: sessions, links, the audit log and sign-ins. */
export function peopleChores({ database, clock }: ChoreOptions, { keptFrom }: ChoreKit): Chore[] {
  const portal = createPortalUpkeep(database, clock);
  const signIns = createSignInUpkeep(database, clock);
  return [
    { name: 'dead-sessions', everyMs: minuteMs, runPiece: portal.deleteDeadSessions },
    { name: 'dead-links', everyMs: hourMs, runPiece: portal.deleteDeadLinks },
    { name: 'dead-invitations', everyMs: hourMs, runPiece: portal.deleteDeadInvitations },
    { name: 'old-audit', everyMs: hourMs, runPiece: () => portal.deleteOldAudit(keptFrom(clock.nowMs())) },
    { name: 'old-known-addresses', everyMs: hourMs, runPiece: portal.deleteOldAddresses },
    { name: 'old-sign-in-tries', everyMs: minuteMs, runPiece: portal.deleteOldTries },
    { name: 'old-sign-ins', everyMs: hourMs, runPiece: signIns.deleteOld },
    { name: 'unknown-sign-ins', everyMs: minuteMs, runPiece: signIns.deleteUnknown },
    { name: 'excess-sign-ins', everyMs: hourMs, runPiece: signIns.deleteBeyond },
  ];
}
