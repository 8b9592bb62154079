// Tests: test/races/idempotency.test.ts, test/contract/idempotency.test.ts
import type { Clock } from '../platform/clock.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database } from '../platform/database/database.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/database/idempotency.ts';
import { ApiError } from '../platform/errors.ts';
import type { Checks, NamedCheck } from './checks.ts';
import type { VerificationAndText } from './texts/newest-texts.ts';

/** A check with an idempotency key. */
export interface KeptCheck<Answer> {
  row: NamedCheck;
  /** Undefined for an answer that the caller does not get. */
  keep: (answer: Answer) => AnswerToKeep | undefined;
}

/** An answer may contain a proof, which is signed while its verification is locked. */
const mostAtOnce = 100;

/** Decides checks with an idempotency key: one commit has the decisions of many callers, and their stored answers. */
export function createKeptChecks<Answer extends object>(options: {
  database: Database;
  clock: Clock;
  checks: Pick<Checks, 'decideIn'>;
  toAnswer: (decided: VerificationAndText) => Promise<Answer>;
}): Batch<KeptCheck<Answer>, Answer | ApiError> {
  const { database, clock, checks, toAnswer } = options;
  return createBatch<KeptCheck<Answer>, Answer | ApiError>({
    database,
    clock,
    repeatable: false,
    repeats: true,
    ownerOf: ({ row }) => row.applicationId,
    keysOf: ({ row }) => [row.id],
    limits: { perBatch: mostAtOnce },
    async run(tx, items) {
      const decided = await checks.decideIn(
        tx,
        items.map(({ row }) => row),
      );
      const answers = await Promise.all(decided.map((each) => (each instanceof ApiError ? each : toAnswer(each))));
      const kept = answers.flatMap((answer, index) =>
        answer instanceof ApiError ? [] : (items[index]?.keep(answer) ?? []),
      );
      await insertAnswers(tx, kept, clock.nowMs());
      return answers;
    },
  });
}
