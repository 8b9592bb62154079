import { deleteOldAttempts } from '../../delivery/attempts/store.ts';
import { deleteOldLogs } from '../../delivery/carrier/log-store.ts';
import { deleteOldTests } from '../../delivery/carrier/test-store.ts';
import { expireWaiting, fillInExpiry } from '../../delivery/queue/expiry-store.ts';
import { deleteOldBulkMoves } from '../../delivery/queue/mover-store.ts';
import { deleteOldParts } from '../../delivery/queue/part-store.ts';
import { createUnreported } from '../../delivery/receipts/unreported.ts';
import { createSealReadable } from '../../delivery/setup/seal-readable.ts';
import { createMessageRetention } from '../../messages/message-retention.ts';
import { deleteOldEnds } from '../../messages/message-store.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import { type Chore, pieceRows } from '../../platform/work/maintenance.ts';
import { deleteArrivalsOf, deleteOldArrivals } from '../../sandbox/handsets.ts';
import { deleteDeadListeners } from '../../smpp-server/bind-store.ts';
import { deleteOldDeliveries, keptMs } from '../../smpp-server/delivery-store.ts';
import { deleteOldParts as deleteOldSmppParts } from '../../smpp-server/part-store.ts';
import { sweepParts } from '../../smpp-server/part-sweep.ts';
import { deleteOldCalls } from '../../twilio/callbacks/store.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** A text may be sent a week after it was accepted, be valid for three days, and have its receipt three days later. */
const partsKeptMs = 14 * dayMs;

/** Texts to phones: their queue, their parts and attempts, and the carriers. */
export function textChores(options: ChoreOptions, { every, withTexts, keptFrom }: ChoreKit): Chore[] {
  const { config, database, clock, keys, onExpired, noteEnds } = options;
  const messages = createMessageRetention({ database, clock, days: config.retentionDays, deleteArrivalsOf });
  const unreported = createUnreported(database, clock);
  const retentionMs = config.retentionDays * dayMs;
  const partsFrom = (nowMs: number) => nowMs - partsKeptMs;
  return [
    { name: 'mask-messages', everyMs: hourMs, runPiece: messages.maskOld },
    every(hourMs, 'old-arrivals', (tx, nowMs) => deleteOldArrivals(tx, nowMs - retentionMs)),
    withTexts('old-message-ends', deleteOldEnds, keptFrom),
    every(2000, 'expire-texts', (tx, nowMs) =>
      expireWaiting(tx, { nowMs, limit: pieceRows, onEnded: onExpired, noteEnds }),
    ),
    { name: 'fill-in-expiry', everyMs: minuteMs, runPiece: () => fillInExpiry(database, pieceRows) },
    { name: 'unreported-texts', everyMs: minuteMs, runPiece: unreported.endSome },
    { name: 'old-carrier-ids', everyMs: 10 * minuteMs, runPiece: unreported.deleteCarrierIds },
    withTexts('old-text-parts', deleteOldParts, partsFrom),
    withTexts('old-status-calls', deleteOldCalls, partsFrom),
    withTexts('old-text-attempts', deleteOldAttempts, keptFrom),
    every(5000, 'incomplete-smpp-texts', (tx, nowMs) => sweepParts(tx, nowMs, pieceRows)),
    every(hourMs, 'old-smpp-parts', (tx, nowMs) => deleteOldSmppParts(tx, nowMs - keptMs, pieceRows)),
    every(hourMs, 'old-smpp-deliveries', (tx, nowMs) => deleteOldDeliveries(tx, nowMs - keptMs, pieceRows)),
    every(minuteMs, 'dead-smpp-listeners', (tx) => deleteDeadListeners(tx, pieceRows)),
    every(hourMs, 'old-bulk-moves', deleteOldBulkMoves),
    { name: 'readable-carrier-secrets', everyMs: hourMs, runPiece: createSealReadable({ database, clock, keys }) },
    every(hourMs, 'old-carrier-tests', deleteOldTests),
    every(hourMs, 'old-carrier-logs', deleteOldLogs),
  ];
}
