import type { Claim, ClaimedText, EndedText, ScheduledText } from '../../src/delivery/attempts/queued-text.ts';
import { type AttemptResult, actionFor, attemptResultOf } from '../../src/delivery/attempts/result.ts';
import type { SubmitResult } from '../../src/delivery/carrier/carrier.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { recordLateAnswers } from '../../src/delivery/queue/late-answer-store.ts';
import { releaseClaims } from '../../src/delivery/queue/release-store.ts';
import { recordClaim } from '../../src/delivery/queue/result-store.ts';
import { queueDue } from '../../src/delivery/queue/schedule-store.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { carrierIdOf } from './recording-carrier.ts';

/** How the carrier answers the texts of a claim; undefined for no answer. */
export type Answer = (text: ClaimedText) => SubmitResult | undefined;

/** What a worker does, step by step, for tests that let something happen in between. */
export interface DeliverySteps {
  release(): Promise<number>;
  queueDue(): Promise<number>;
  /** Returns what is to be submitted, and ends the texts that are not. */
  claim(limit?: number): Promise<Claim | undefined>;
  /** A worker's whole turn: the three of them. */
  takeNext(limit?: number): Promise<Claim | undefined>;
  record(claim: Claim, answer: Answer): Promise<AttemptResult[]>;
  /** For answers that come after the time of the submit. */
  recordLate(claim: Claim, answer: Answer): Promise<AttemptResult[]>;
}

export const leaseMs = 10_000;

/** The steps of one worker. */
export function createDeliverySteps(database: Database, clock: Clock, carrier = 'test'): DeliverySteps {
  const claimNext = createClaims(database);
  const resultsOf = (results: AttemptResult[], unsent: EndedText[] = []) => ({
    carrier,
    account: carrier,
    ended: [...unsent, ...results.flatMap((result): EndedText[] => ('ended' in result ? [result.ended] : []))],
    again: results.flatMap((result): ScheduledText[] => ('again' in result ? [result.again] : [])),
    nowMs: clock.nowMs(),
  });
  const answersOf = ({ texts }: Claim, answer: Answer) =>
    texts.map((text) => attemptResultOf(text, answer(text), { nowMs: clock.nowMs(), carrier }));

  const steps: DeliverySteps = {
    async release() {
      await endLeases(database, clock.nowMs() - leaseMs);
      return releaseClaims(database, { carrier, nowMs: clock.nowMs(), atMostOnce: false, all: false });
    },
    queueDue: () => queueDue(database, { carrier, nowMs: clock.nowMs(), limit: 1000 }),

    async claim(limit = 100) {
      const claim = await claimNext({
        carrier,
        nowMs: clock.nowMs(),
        leaseMs,
        limits: { first: limit, bulk: limit },
      });
      if (claim === undefined) return undefined;
      const actions = claim.texts.map((text) => actionFor(text, { nowMs: clock.nowMs(), atMostOnce: false }));
      if (actions.every((action) => action === 'submit')) return claim;
      if (actions.includes('submit')) throw new Error('give texts that expire a claim of their own');
      const unsent = claim.texts.map(({ entry }, index): EndedText => {
        const expired = actions[index] === 'expire';
        return {
          entry,
          carrierMessageId: null,
          receiptKey: null,
          long: undefined,
          ...(expired ? { status: 'expired', error: 'expired' } : { status: 'unknown', error: null }),
        };
      });
      await recordClaim(database, claim, resultsOf([], unsent));
      return undefined;
    },

    async takeNext(limit) {
      await steps.release();
      await steps.queueDue();
      return steps.claim(limit);
    },

    async record(claim, answer) {
      const results = answersOf(claim, answer);
      await recordClaim(database, claim, resultsOf(results));
      return results;
    },

    async recordLate(claim, answer) {
      const results = answersOf(claim, answer);
      await database.transaction((tx) => recordLateAnswers(tx, resultsOf(results)));
      return results;
    },
  };
  return steps;
}

/** Ends the leases of claims up to this time, as hours would: they go by the clock of Postgres, which no test turns. */
export async function endLeases(database: Database, claimedUntilMs = Number.MAX_SAFE_INTEGER): Promise<void> {
  await database.query(
    `update delivery_claim set leased_until = '-infinity' where extract(epoch from claimed_at) * 1000 <= $1`,
    [claimedUntilMs],
  );
}

/** The number of the submit that the claim stands for. */
export function attemptOf({ entry }: ClaimedText): number {
  return entry.attempt + 1;
}

export const accepted: Answer = (text) => ({
  outcome: 'accepted',
  carrierMessageId: carrierIdOf(text.message.id, attemptOf(text)),
});
export const tryLater: Answer = () => ({ outcome: 'retry', error: 'unreachable' });
export const refused: Answer = () => ({ outcome: 'never', error: 'blocked_by_carrier' });
export const unanswered: Answer = () => undefined;
