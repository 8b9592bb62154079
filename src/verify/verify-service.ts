import type { PageRequest } from '../http/list-page.ts';
import type { GuardHold } from '../http/sending-rights.ts';
import { prefixOf } from '../messages/numbers/number-prefix.ts';
import { testNumberOf } from '../messages/numbers/test-numbers.ts';
import type { RouteText } from '../messages/text/text-route.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { violates } from '../platform/database/errors.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/database/idempotency.ts';
import { createReadBatcher } from '../platform/database/read-batcher.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import type { Woken } from '../platform/work/wake-list.ts';
import { findApproved } from './approved-numbers.ts';
import { createCancellations } from './cancellations.ts';
import { createChecks } from './checks.ts';
import type { Finding, Guard } from './guard.ts';
import { findHeld, type HeldNumber } from './held-number.ts';
import { createKeptChecks } from './kept-checks.ts';
import { createStartBatch } from './start/batch.ts';
import { type CountedDestination, countNeighbours, countStarts, type StartCounts } from './start/counts.ts';
import { guardFactsOf, type StartRequest } from './start/decision.ts';
import type { StartAnswer, StartItem } from './start/item.ts';
import { findNewestTexts, type VerificationAndText } from './texts/newest-texts.ts';
import { asOf, type BlockReason, proofMs, type Verification } from './verification.ts';
import { listVerifications, siftNewest, type VerificationFilter } from './verification-list.ts';
import { toVerificationRecord } from './verification-record.ts';
import * as store from './verification-store.ts';

export interface VerifyServiceOptions {
  database: Database;
  /** For lists and the guard's explanations; defaults to `database`. */
  sideDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  guard: Guard;
  environment: 'sandbox' | 'production';
  resendSeconds: number;
  routeText: RouteText;
  /** True while a text may have several carriers. */
  hasChoice: () => boolean;
  signProof: (claims: {
    applicationId: string;
    verificationId: string;
    phoneNumber: string;
    approvedAtMs: number;
    expiresAtMs: number;
  }) => Promise<string>;
  /** Called after every commit: these carriers may have something to send, or any. */
  wake: (carriers: Woken) => void;
}

export type VerifyService = ReturnType<typeof createVerifyService>;

export interface CheckAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerificationRecord> & { valid: boolean; proof?: string };
}

export interface GuardExplanation {
  decision: 'allow' | 'block';
  reason: BlockReason | null;
  rules: Finding[];
  /** Set for a number whose group is held back, with whether it passes because it was approved lately. */
  held?: HeldNumber & { wasApproved: boolean };
}

/** Test numbers know no guard; one of them is blocked on purpose. */
function explainTestNumber(isBlocked: boolean): GuardExplanation {
  if (!isBlocked) return { decision: 'allow', reason: null, rules: [] };
  return { decision: 'block', reason: 'block_list', rules: [{ rule: 'block_list', limit: null, seen: true }] };
}

export function createVerifyService(options: VerifyServiceOptions) {
  const {
    database,
    sideDatabase = database,
    clock,
    keys,
    guard,
    environment,
    resendSeconds,
    routeText,
    hasChoice,
    signProof,
    wake,
  } = options;
  const starts = createStartBatch(database, {
    ...{ clock, keys, guard, environment, resendSeconds, routeText, hasChoice },
  });
  const find = createReadBatcher((keys: store.VerificationKey[]) => store.findByKeys(database, keys));
  const checks = createChecks({ database, clock, keys, environment, find });
  const keptChecks = createKeptChecks({ database, clock, checks, toAnswer: toCheckAnswer });
  const cancellations = createCancellations(database, clock);

  /** Undefined unless approved, and after the proof has expired. */
  function proofOf(row: Verification): Promise<string> | undefined {
    if (row.status !== 'approved' || row.approvedAtMs === null) return undefined;
    const expiresAtMs = row.approvedAtMs + proofMs;
    if (expiresAtMs <= clock.nowMs()) return undefined;
    return signProof({
      applicationId: row.applicationId,
      verificationId: row.id,
      phoneNumber: row.to,
      approvedAtMs: row.approvedAtMs,
      expiresAtMs,
    });
  }

  async function withTexts(rows: Verification[], nowMs: number) {
    const texts = await findNewestTexts(sideDatabase, rows);
    return rows.map((row, index) => ({ id: row.id, record: toVerificationRecord(asOf(row, nowMs), texts[index]) }));
  }

  async function toCheckAnswer({ row, text }: VerificationAndText): Promise<CheckAnswer> {
    const record: CheckAnswer['record'] = { ...toVerificationRecord(row, text), valid: row.status === 'approved' };
    if (row.status === 'pending') record.reason = 'incorrect_code';
    const proof = proofOf(row);
    if (proof !== undefined) record.proof = await proof;
    return { verification: row, record };
  }

  /** What the guard would count for a start now, and a little further. */
  async function countFor(destination: CountedDestination): Promise<StartCounts | undefined> {
    const [limits, nowMs] = [guard.explainLimits, clock.nowMs()];
    const [counts] = await countStarts(sideDatabase, [destination], limits, nowMs);
    if (counts === undefined || guard.countsPrefixes) return counts;
    const startsForPrefix = await countNeighbours(sideDatabase, destination, limits.perPrefix, nowMs);
    return { ...counts, startsForPrefix };
  }

  return {
    async start(request: StartRequest, key: string | undefined, keep: StartItem['keep']): Promise<StartAnswer> {
      const item = { request, key, keep };
      // Another node took the number between our read and our write; the second try continues its verification.
      const answer = await starts.submit(item).catch((error: unknown) => {
        if (!violates(error, 'verification_pending')) throw error;
        return starts.submit(item);
      });
      if (answer instanceof ApiError) throw answer;
      wake(answer.carriers);
      return answer;
    },

    /** `keep` commits the answer with the decision. */
    async check(
      applicationId: string,
      id: string,
      code: string,
      keep?: (checked: CheckAnswer) => AnswerToKeep,
    ): Promise<CheckAnswer> {
      if (!isId('ver', id)) throw notFound();
      if (keep === undefined) return toCheckAnswer(await checks.decide(applicationId, id, code));
      const checked = await keptChecks.submit({ row: checks.toRow(applicationId, id, code), keep });
      if (checked instanceof ApiError) throw checked;
      return checked;
    },

    async read(applicationId: string, id: string) {
      const found = isId('ver', id) ? await find({ applicationId, id }) : undefined;
      if (found === undefined) throw notFound();
      const now = asOf(found.row, clock.nowMs());
      const record = toVerificationRecord(now, found.text);
      const proof = proofOf(now);
      return proof === undefined ? record : { ...record, proof: await proof };
    },

    async list(applicationId: string, filter: VerificationFilter, page: PageRequest) {
      const nowMs = clock.nowMs();
      return withTexts(await listVerifications(sideDatabase, applicationId, filter, page, nowMs), nowMs);
    },

    /** The same for numbers that have these digits in a row. It looks at a bounded number of verifications. */
    async search(applicationId: string, filter: VerificationFilter, part: string, page: PageRequest) {
      const nowMs = clock.nowMs();
      const read = (piece: PageRequest) => listVerifications(sideDatabase, applicationId, filter, piece, nowMs);
      const { rows, searchedTo } = await siftNewest(read, ({ to }) => to.includes(part), page);
      return { rows: await withTexts(rows, nowMs), searchedTo };
    },

    async cancel(applicationId: string, id: string) {
      if (!isId('ver', id)) throw notFound();
      const canceled = await cancellations.submit({ applicationId, id });
      if (canceled instanceof ApiError) throw canceled;
      return canceled;
    },

    /** What the guard would decide for a start now, and why. */
    async explain(applicationId: string, to: string, holds: readonly GuardHold[]): Promise<GuardExplanation> {
      const test = environment === 'sandbox' ? testNumberOf(to) : undefined;
      if (test !== undefined) return explainTestNumber(test.kind === 'blocked');
      const destination = { applicationId, to, prefix: prefixOf(to) };
      const held = environment === 'sandbox' ? undefined : findHeld(keys, holds, { to, clients: [] }, clock.nowMs());
      const wasApproved =
        held !== undefined && (await findApproved(sideDatabase, [destination], clock.nowMs())).length > 0;
      const counts = await countFor(destination);
      const facts = guardFactsOf(to, counts && { ...counts, wasApproved }, () => held);
      const reason = guard.refusal(facts);
      const decision = reason === null ? 'allow' : 'block';
      return { decision, reason, rules: guard.findings(facts), ...(held && { held: { ...held, wasApproved } }) };
    },

    /** Stores an answer that has no other row to commit with. */
    async keep(answer: AnswerToKeep | undefined): Promise<void> {
      if (answer !== undefined) await insertAnswers(sideDatabase, [answer], clock.nowMs());
    },

    async drain(): Promise<void> {
      await starts.drain();
      await checks.drain();
      await keptChecks.drain();
      await cancellations.drain();
    },
  };
}
