import { hourMs, minuteMs } from '../../platform/clock.ts';
import { type Chore, pieceRows } from '../../platform/work/maintenance.ts';
import { deleteOldPlans } from '../../verify/fallback/store.ts';
import { deleteOldAwaited } from '../../verify/inbound/refused-texts.ts';
import {
  deleteCountedSends,
  deleteCountedStarts,
  deleteRecentFailures,
  deleteStartClients,
} from '../../verify/start/counts.ts';
import { createVerificationRetention } from '../../verify/verification-retention.ts';
import { expireSome } from '../../verify/verification-store.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** Verifications, and what their limits count. */
export function verificationChores({ config, database, clock }: ChoreOptions, { every, keptFrom }: ChoreKit): Chore[] {
  const verifications = createVerificationRetention(database, clock, config.retentionDays);
  return [
    { name: 'mask-verifications', everyMs: hourMs, runPiece: verifications.maskOld },
    every(2000, 'expire-verifications', (tx, nowMs) => expireSome(tx, pieceRows, nowMs)),
    every(minuteMs, 'counted-starts', deleteCountedStarts),
    every(10 * minuteMs, 'start-clients', deleteStartClients),
    every(10 * minuteMs, 'fallbacks', (tx, nowMs) => deleteOldPlans(tx, keptFrom(nowMs))),
    every(10 * minuteMs, 'awaited-texts', (tx, nowMs) => deleteOldAwaited(tx, keptFrom(nowMs))),
    every(10 * minuteMs, 'counted-sends', deleteCountedSends),
    every(10 * minuteMs, 'recent-failures', deleteRecentFailures),
  ];
}
