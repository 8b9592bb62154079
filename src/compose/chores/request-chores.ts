import { deleteOldSso } from '../../accounts/sso/store.ts';
import { deleteOldAssertions } from '../../identity/assertion-store.ts';
import { deleteOutlivedRevocations } from '../../identity/token-store.ts';
import { summedMessages } from '../../messages/message-usage-store.ts';
import { deleteOldSpend } from '../../messages/spend-store.ts';
import { createTraceDeletion, rollUpUsage } from '../../metering/metering-store.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import { deleteExpiredAnswers } from '../../platform/database/idempotency.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import { deleteDeadNodes, deleteOldChanges } from '../../registry/change-store.ts';
import { summedVerifications } from '../../verify/verification-usage-store.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** Only today's count limits sending; older counts show operators how a limit was used. */
const spendKeptMs = 35 * dayMs;

/** Chores for data that requests leave: stored answers, spend, used credentials, traces, usage; and for nodes. */
export function requestChores({ config, database, clock }: ChoreOptions, { every, sums }: ChoreKit): Chore[] {
  return [
    every(10 * minuteMs, 'idempotent-answers', deleteExpiredAnswers),
    every(hourMs, 'old-spend-days', (tx, nowMs) => deleteOldSpend(tx, nowMs - spendKeptMs)),
    every(10 * minuteMs, 'registry-changes', deleteOldChanges),
    every(minuteMs, 'dead-nodes', (tx) => deleteDeadNodes(tx)),
    ...(config.sso === undefined ? [] : [every(10 * minuteMs, 'old-single-sign-ons', deleteOldSso)]),
    every(10 * minuteMs, 'client-assertions', deleteOldAssertions),
    every(10 * minuteMs, 'token-revocations', deleteOutlivedRevocations),
    { name: 'request-traces', everyMs: 10 * minuteMs, runPiece: createTraceDeletion(database, clock) },
    ...[summedMessages, summedVerifications].flatMap(sums),
    every(10 * minuteMs, 'usage-by-hour', rollUpUsage),
  ];
}
