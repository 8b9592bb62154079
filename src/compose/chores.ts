import { createSignInUpkeep } from '../accounts/sign-in/upkeep.ts';
import { deleteOldSso } from '../accounts/sso/store.ts';
import { createPortalUpkeep } from '../accounts/upkeep.ts';
import type { NoteEnds } from '../delivery/attempts/answered-text.ts';
import { deleteOldAttempts, findOnSeveralCarriers } from '../delivery/attempts/store.ts';
import { deleteOldLogs } from '../delivery/carrier/log-store.ts';
import { deleteOldTests } from '../delivery/carrier/test-store.ts';
import { expireWaiting, fillInExpiry } from '../delivery/queue/expiry-store.ts';
import { deleteOldBulkMoves } from '../delivery/queue/mover-store.ts';
import { deleteOldParts } from '../delivery/queue/part-store.ts';
import { neededTextsFrom } from '../delivery/receipts/needed-texts.ts';
import { createUnreported } from '../delivery/receipts/unreported.ts';
import { createSealReadable } from '../delivery/setup/seal-readable.ts';
import { stopListening } from '../events/listener-store.ts';
import { beginDay } from '../events/position.ts';
import { deleteOldAssertions } from '../identity/assertion-store.ts';
import { deleteOutlivedRevocations } from '../identity/token-store.ts';
import { createInboundRetention } from '../inbound/inbound-retention.ts';
import { deleteOldReplies } from '../inbound/reply-store.ts';
import { createMessageRetention } from '../messages/message-retention.ts';
import { deleteOldEnds, messageTable, numberIndex } from '../messages/message-store.ts';
import { summedMessages } from '../messages/message-usage-store.ts';
import { deleteOldSpend } from '../messages/spend-store.ts';
import { createTraceDeletion, rollUpUsage } from '../metering/metering-store.ts';
import { type Clock, dayMs, hourMs, minuteMs } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { deleteExpiredAnswers } from '../platform/database/idempotency.ts';
import { createIndexTurn } from '../platform/database/index-turn.ts';
import {
  deleteOldRows,
  dropOldPartition,
  makePartitions,
  type NeededFrom,
  type PartitionedTable,
} from '../platform/database/partitions.ts';
import { deleteSums, type SummedRecords, sumSome } from '../platform/database/record-sums.ts';
import type { Log } from '../platform/log.ts';
import { type Chore, pieceRows } from '../platform/work/maintenance.ts';
import { deleteClearedAlerts } from '../quality/alerts/store.ts';
import { deleteOldSteps, foldSteps } from '../quality/analytics/step-store.ts';
import { deleteOldVerificationSteps, foldVerifications } from '../quality/analytics/verification-store.ts';
import { deleteOldBlockedStarts } from '../quality/blocked-start-store.ts';
import { createCodeOutcomes } from '../quality/code-outcomes.ts';
import {
  deleteClientSums,
  deleteOldNumbers,
  deleteOldSums,
  foldHours,
  forgetClientsOfNumbers,
} from '../quality/conversion/store.ts';
import { createConversionWatch } from '../quality/conversion/watch.ts';
import { deleteOldHolds, endDueHolds, forgetClients } from '../quality/guard-hold-store.ts';
import { deleteOldMinutes } from '../quality/minute-store.ts';
import { deleteOldOutcomes } from '../quality/outcome-store.ts';
import { deleteOldDays, foldDays } from '../quality/total-store.ts';
import { deleteDeadNodes, deleteOldChanges, recordChange } from '../registry/change-store.ts';
import { deleteArrivalsOf, deleteOldArrivals } from '../sandbox/handsets.ts';
import type { Config } from '../settings/settings.ts';
import { deleteDeadListeners } from '../smpp-server/bind-store.ts';
import { deleteOldDeliveries, keptMs } from '../smpp-server/delivery-store.ts';
import { deleteOldParts as deleteOldSmppParts } from '../smpp-server/part-store.ts';
import { sweepParts } from '../smpp-server/part-sweep.ts';
import { deleteOldCalls } from '../twilio/callbacks/store.ts';
import { walkEndedCodes } from '../verify/ended-code-store.ts';
import { deleteOldPlans } from '../verify/fallback/store.ts';
import { deleteOldAwaited } from '../verify/inbound/refused-texts.ts';
import {
  deleteCountedSends,
  deleteCountedStarts,
  deleteRecentFailures,
  deleteStartClients,
} from '../verify/start/counts.ts';
import { createVerificationRetention } from '../verify/verification-retention.ts';
import { expireSome, neededVerificationsFrom, verificationTables } from '../verify/verification-store.ts';
import { summedVerifications } from '../verify/verification-usage-store.ts';
import { deleteOldAnswers } from '../webhooks/answer-store.ts';
import { answersKeptMs } from '../webhooks/answers.ts';
import { createDisableHopeless } from '../webhooks/disable.ts';
import { feedKeepsListeningMs } from '../webhooks/service.ts';
import { deleteLeftOver } from '../webhooks/store.ts';
import { eventTables } from './partitioned-tables.ts';

export interface ChoreOptions {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Counts texts that have expired without a carrier. */
  onExpired?: ((status: 'expired' | 'unknown', by: number) => void) | undefined;
  noteEnds?: NoteEnds | undefined;
  /** Delivers texts from phones whose other parts never came. */
  deliverIncomplete: () => Promise<number>;
}

/** A text may be sent a week after it was accepted, be valid for three days, and have its receipt three days later. */
const partsKeptMs = 14 * dayMs;
/** Only today's count limits sending; older counts show operators how a limit was used. */
const spendKeptMs = 35 * dayMs;

/** Every maintenance chore and its interval. The SQL is in the store that owns the table. */
export function createChores({
  config,
  database,
  clock,
  keys,
  log,
  onExpired,
  noteEnds,
  deliverIncomplete,
}: ChoreOptions): Chore[] {
  const messages = createMessageRetention({ database, clock, days: config.retentionDays, deleteArrivalsOf });
  const unreported = createUnreported(database, clock);
  const retentionMs = config.retentionDays * dayMs;
  const verifications = createVerificationRetention(database, clock, config.retentionDays);
  const inbound = createInboundRetention({ database, clock, keys, ...config });
  const withNow = (act: (tx: Database, nowMs: number) => Promise<number>) => () => act(database, clock.nowMs());
  const portal = createPortalUpkeep(database, clock);
  const signIns = createSignInUpkeep(database, clock);
  const countCodes = createCodeOutcomes({
    database,
    clock,
    walkEnded: walkEndedCodes,
    findShared: findOnSeveralCarriers,
    conversions:
      config.environment === 'sandbox' ? undefined : createConversionWatch({ clock, keys, notifyNodes: recordChange }),
  });
  const keptFrom = (nowMs: number) => nowMs - config.keepDays * dayMs;
  // A day longer than cursors reach back, so that no reader meets a deletion.
  const eventsKeptFrom = (nowMs: number) => nowMs - (config.eventDays + 1) * dayMs;
  /** Deletes rows that belong to texts with expired records. */
  const withTexts = (act: (tx: Database, beforeMs: number) => Promise<number>, oldFrom: (nowMs: number) => number) =>
    withNow(async (tx, nowMs) => act(tx, await neededTextsFrom(tx, oldFrom(nowMs))));
  /** Partitions are made ahead, and dropped with all their rows when the youngest is old enough and none is needed. */
  function partitionChores(
    table: PartitionedTable,
    keptFrom: (nowMs: number) => number,
    neededFrom?: NeededFrom,
  ): Chore[] {
    return [
      {
        name: `${table.name}-partitions`,
        everyMs: hourMs,
        runPiece: withNow((tx, nowMs) => makePartitions(tx, table, nowMs)),
      },
      {
        name: `old-${table.name}-partitions`,
        everyMs: hourMs,
        runPiece: withNow((tx, nowMs) => dropOldPartition(tx, table, keptFrom(nowMs), neededFrom)),
      },
      {
        name: `old-${table.name}-rows`,
        everyMs: hourMs,
        runPiece: withNow((tx, nowMs) => deleteOldRows(tx, table, keptFrom(nowMs), neededFrom)),
      },
    ];
  }
  function sumChores(summed: SummedRecords): Chore[] {
    return [
      {
        name: `sum-up-${summed.records}`,
        everyMs: minuteMs,
        runPiece: withNow((tx, nowMs) => sumSome(tx, summed, nowMs)),
      },
      {
        name: `old-${summed.records}-sums`,
        everyMs: hourMs,
        runPiece: withNow((tx, nowMs) => deleteSums(tx, summed, nowMs, keptFrom(nowMs))),
      },
    ];
  }
  return [
    { name: 'mask-messages', everyMs: hourMs, runPiece: messages.maskOld },
    {
      name: 'old-arrivals',
      everyMs: hourMs,
      runPiece: withNow((tx, nowMs) => deleteOldArrivals(tx, nowMs - retentionMs)),
    },
    {
      name: 'old-message-ends',
      everyMs: hourMs,
      runPiece: withTexts(deleteOldEnds, keptFrom),
    },
    {
      name: 'expire-texts',
      everyMs: 2000,
      runPiece: withNow((tx, nowMs) => expireWaiting(tx, { nowMs, limit: pieceRows, onEnded: onExpired, noteEnds })),
    },
    { name: 'fill-in-expiry', everyMs: minuteMs, runPiece: () => fillInExpiry(database, pieceRows) },
    { name: 'unreported-texts', everyMs: minuteMs, runPiece: unreported.endSome },
    { name: 'old-carrier-ids', everyMs: 10 * minuteMs, runPiece: unreported.deleteCarrierIds },
    {
      name: 'old-text-parts',
      everyMs: hourMs,
      runPiece: withTexts(deleteOldParts, (nowMs) => nowMs - partsKeptMs),
    },
    {
      name: 'old-status-calls',
      everyMs: hourMs,
      runPiece: withTexts(deleteOldCalls, (nowMs) => nowMs - partsKeptMs),
    },
    {
      name: 'old-text-attempts',
      everyMs: hourMs,
      runPiece: withTexts(deleteOldAttempts, keptFrom),
    },
    {
      name: 'incomplete-smpp-texts',
      everyMs: 5000,
      runPiece: withNow((tx, nowMs) => sweepParts(tx, nowMs, pieceRows)),
    },
    {
      name: 'old-smpp-parts',
      everyMs: hourMs,
      runPiece: withNow((tx, nowMs) => deleteOldSmppParts(tx, nowMs - keptMs, pieceRows)),
    },
    {
      name: 'old-smpp-deliveries',
      everyMs: hourMs,
      runPiece: withNow((tx, nowMs) => deleteOldDeliveries(tx, nowMs - keptMs, pieceRows)),
    },
    { name: 'dead-smpp-listeners', everyMs: minuteMs, runPiece: withNow((tx) => deleteDeadListeners(tx, pieceRows)) },
    { name: 'old-bulk-moves', everyMs: hourMs, runPiece: withNow(deleteOldBulkMoves) },
    { name: 'readable-carrier-secrets', everyMs: hourMs, runPiece: createSealReadable({ database, clock, keys }) },
    { name: 'old-carrier-tests', everyMs: hourMs, runPiece: withNow(deleteOldTests) },
    { name: 'old-carrier-logs', everyMs: hourMs, runPiece: withNow(deleteOldLogs) },
    { name: 'incomplete-inbound', everyMs: minuteMs, runPiece: deliverIncomplete },
    { name: 'mask-inbound', everyMs: hourMs, runPiece: inbound.maskTexts },
    { name: 'mask-opt-outs', everyMs: hourMs, runPiece: inbound.maskOptOuts },
    { name: 'mask-events', everyMs: hourMs, runPiece: inbound.maskEvents },
    { name: 'old-inbound', everyMs: hourMs, runPiece: inbound.deleteTexts },
    { name: 'old-inbound-repeats', everyMs: 10 * minuteMs, runPiece: inbound.deleteSeen },
    {
      name: 'old-automatic-replies',
      everyMs: hourMs,
      runPiece: withNow((tx, nowMs) => deleteOldReplies(tx, nowMs - 2 * dayMs)),
    },
    { name: 'mask-verifications', everyMs: hourMs, runPiece: verifications.maskOld },
    { name: 'expire-verifications', everyMs: 2000, runPiece: withNow((tx, nowMs) => expireSome(tx, pieceRows, nowMs)) },
    { name: 'counted-starts', everyMs: minuteMs, runPiece: withNow(deleteCountedStarts) },
    { name: 'start-clients', everyMs: 10 * minuteMs, runPiece: withNow(deleteStartClients) },
    {
      name: 'fallbacks',
      everyMs: 10 * minuteMs,
      runPiece: withNow((tx, nowMs) => deleteOldPlans(tx, keptFrom(nowMs))),
    },
    {
      name: 'awaited-texts',
      everyMs: 10 * minuteMs,
      runPiece: withNow((tx, nowMs) => deleteOldAwaited(tx, keptFrom(nowMs))),
    },
    { name: 'counted-sends', everyMs: 10 * minuteMs, runPiece: withNow(deleteCountedSends) },
    { name: 'recent-failures', everyMs: 10 * minuteMs, runPiece: withNow(deleteRecentFailures) },
    createIndexTurn(database, numberIndex, 10 * minuteMs),
    ...partitionChores(messageTable, keptFrom, neededTextsFrom),
    ...verificationTables.flatMap((table) => partitionChores(table, keptFrom, neededVerificationsFrom)),
    { name: 'event-day', everyMs: minuteMs, runPiece: withNow(beginDay) },
    {
      name: 'quiet-listeners',
      everyMs: hourMs,
      runPiece: withNow((db, nowMs) => db.transaction((tx) => stopListening(tx, nowMs - feedKeepsListeningMs))),
    },
    { name: 'failing-webhooks', everyMs: minuteMs, runPiece: createDisableHopeless({ database, clock, log }) },
    {
      name: 'deleted-webhooks',
      everyMs: minuteMs,
      runPiece: withNow((tx, nowMs) => deleteLeftOver(tx, nowMs - minuteMs)),
    },
    {
      name: 'old-webhook-answers',
      everyMs: 10 * minuteMs,
      runPiece: withNow((tx, nowMs) => deleteOldAnswers(tx, nowMs - answersKeptMs)),
    },
    ...eventTables.flatMap((table) => partitionChores(table, eventsKeptFrom)),
    { name: 'idempotent-answers', everyMs: 10 * minuteMs, runPiece: withNow(deleteExpiredAnswers) },
    {
      name: 'old-spend-days',
      everyMs: hourMs,
      runPiece: withNow((tx, nowMs) => deleteOldSpend(tx, nowMs - spendKeptMs)),
    },
    { name: 'registry-changes', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldChanges) },
    { name: 'dead-nodes', everyMs: minuteMs, runPiece: () => deleteDeadNodes(database) },
    ...(config.sso === undefined
      ? []
      : [{ name: 'old-single-sign-ons', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldSso) }]),
    { name: 'client-assertions', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldAssertions) },
    { name: 'token-revocations', everyMs: 10 * minuteMs, runPiece: withNow(deleteOutlivedRevocations) },
    { name: 'request-traces', everyMs: 10 * minuteMs, runPiece: createTraceDeletion(database, clock) },
    ...[summedMessages, summedVerifications].flatMap((summed) => sumChores(summed)),
    { name: 'usage-by-hour', everyMs: 10 * minuteMs, runPiece: withNow(rollUpUsage) },
    { name: 'code-outcomes', everyMs: minuteMs, runPiece: countCodes },
    { name: 'ended-holds', everyMs: minuteMs, runPiece: withNow(endDueHolds) },
    { name: 'clients-of-holds', everyMs: 10 * minuteMs, runPiece: withNow(forgetClients) },
    { name: 'clients-of-numbers', everyMs: 10 * minuteMs, runPiece: withNow(forgetClientsOfNumbers) },
    { name: 'client-sums', everyMs: 10 * minuteMs, runPiece: withNow(deleteClientSums) },
    { name: 'old-holds', everyMs: hourMs, runPiece: withNow(deleteOldHolds) },
    { name: 'old-blocked-starts', everyMs: hourMs, runPiece: withNow(deleteOldBlockedStarts) },
    { name: 'old-conversion-numbers', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldNumbers) },
    { name: 'conversions-by-day', everyMs: 10 * minuteMs, runPiece: withNow(foldHours) },
    { name: 'old-conversions', everyMs: hourMs, runPiece: withNow(deleteOldSums) },
    { name: 'totals-by-day', everyMs: 10 * minuteMs, runPiece: withNow(foldDays) },
    { name: 'totals-by-hour', everyMs: 10 * minuteMs, runPiece: withNow(foldSteps) },
    { name: 'old-steps', everyMs: hourMs, runPiece: withNow(deleteOldSteps) },
    { name: 'verifications-by-hour', everyMs: 10 * minuteMs, runPiece: withNow(foldVerifications) },
    { name: 'old-verification-steps', everyMs: hourMs, runPiece: withNow(deleteOldVerificationSteps) },
    { name: 'old-totals', everyMs: hourMs, runPiece: withNow(deleteOldDays) },
    { name: 'old-alerts', everyMs: hourMs, runPiece: withNow(deleteClearedAlerts) },
    { name: 'old-carrier-outcomes', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldOutcomes) },
    { name: 'old-carrier-minutes', everyMs: 10 * minuteMs, runPiece: withNow(deleteOldMinutes) },
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
