// Tests: test/contract/verification-numbers.test.ts
import type { GuardHold } from '../http/sending-rights.ts';
import { prefixOf } from '../messages/numbers/number-prefix.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/database/idempotency.ts';
import { findApproved } from './approved-numbers.ts';
import type { Finding, Guard } from './guard.ts';
import { findHeld, type HeldNumber } from './held-number.ts';
import { type CountedDestination, countNeighbours, countStarts, type StartCounts } from './start/counts.ts';
import { guardFactsOf } from './start/decision.ts';
import type { BlockReason } from './verification.ts';

export interface GuardExplanation {
  decision: 'allow' | 'block';
  reason: BlockReason | null;
  rules: Finding[];
  /** Set if a hold covers the number. `wasApproved`: a recent approval lets it pass. */
  held?: HeldNumber & { wasApproved: boolean };
}

export interface ExplainItem {
  applicationId: string;
  to: string;
  /** Undefined in the sandbox, which holds nothing back. */
  holds: readonly GuardHold[] | undefined;
  /** The part of the explanation that is stored with an idempotency key. */
  keep: (explanation: GuardExplanation) => AnswerToKeep | undefined;
}

/** Small, because each prefix may need a thousand rows to count. */
const mostAtOnce = 100;

/** Explains what the guard would decide about numbers, in batches with the few statements of a start. */
export function createExplanations(options: {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  currentGuard: () => Guard | Promise<Guard>;
}): Batch<ExplainItem, GuardExplanation> {
  const { database, clock, keys, currentGuard } = options;

  /** Counts what the guard would count for starts now, and a little further. */
  async function countAll(
    tx: Tx,
    guard: Guard,
    destinations: CountedDestination[],
    nowMs: number,
  ): Promise<Map<string, StartCounts>> {
    const limits = guard.explainLimits;
    const distinct = [...new Map(destinations.map((each) => [nameOf(each), each])).values()];
    const counts = new Map((await countStarts(tx, distinct, limits, nowMs)).map((each) => [nameOf(each), each]));
    if (guard.countsPrefixes) return counts;
    const prefixes = [...new Map(distinct.map((each) => [nameOfPrefix(each), each])).values()];
    const starts = await countNeighbours(tx, prefixes, limits.perPrefix, nowMs);
    const startsOf = new Map(prefixes.map((each, index) => [nameOfPrefix(each), starts[index] ?? 0]));
    for (const each of distinct) {
      const counted = counts.get(nameOf(each));
      if (counted !== undefined) counted.startsForPrefix = startsOf.get(nameOfPrefix(each)) ?? 0;
    }
    return counts;
  }

  return createBatch<ExplainItem, GuardExplanation>({
    database,
    clock,
    // Reads need no rerun. If the batch did store an answer, the caller's retry finds it by its idempotency key.
    repeatable: false,
    repeats: true,
    ownerOf: ({ applicationId }) => applicationId,
    keysOf: () => [],
    limits: { perBatch: mostAtOnce },
    async run(tx, items) {
      const nowMs = clock.nowMs();
      const guard = await currentGuard();
      const destinations = items.map(({ applicationId, to }) => ({ applicationId, to, prefix: prefixOf(to) }));
      const held = items.map(({ holds, to }) => holds && findHeld(keys, holds, { to, clients: [] }, nowMs));
      const heldNumbers = destinations.filter((_, index) => held[index] !== undefined);
      const approved = heldNumbers.length === 0 ? [] : await findApproved(tx, heldNumbers, nowMs);
      const wereApproved = new Set(approved.map(nameOf));
      const counts = await countAll(tx, guard, destinations, nowMs);
      const explanations = destinations.map((destination, index) => {
        const name = nameOf(destination);
        return explain(guard, destination.to, held[index], counts.get(name), wereApproved.has(name));
      });
      const kept = explanations.flatMap((explanation, index) => items[index]?.keep(explanation) ?? []);
      await insertAnswers(tx, kept, nowMs);
      return explanations;
    },
  });

  function explain(
    guard: Guard,
    to: string,
    held: HeldNumber | undefined,
    counts: StartCounts | undefined,
    wasApproved: boolean,
  ): GuardExplanation {
    const facts = guardFactsOf(to, counts && { ...counts, wasApproved }, () => held);
    const reason = guard.refusal(facts);
    const decision = reason === null ? 'allow' : 'block';
    return { decision, reason, rules: guard.findings(facts), ...(held && { held: { ...held, wasApproved } }) };
  }
}

const nameOf = ({ applicationId, to }: { applicationId: string; to: string }) => `${applicationId} ${to}`;
const nameOfPrefix = ({ applicationId, prefix }: CountedDestination) => `${applicationId} ${prefix}`;
