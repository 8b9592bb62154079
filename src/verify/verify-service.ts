// Tests: test/contract/verifications.test.ts, test/races/verification-guard.test.ts
import type { PageRequest } from '../http/list-page.ts';
import type { GuardHold } from '../http/sending-rights.ts';
import { unsupportedChannel } from '../messages/channel.ts';
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
import type { Payment } from './assurance/payment.ts';
import { claimsOf } from './assurance/proof-claims.ts';
import { createCancellations } from './cancellations.ts';
import { createChecks, type NamedPayment } from './checks.ts';
import { createExplanations, type ExplainItem, type GuardExplanation } from './explanations.ts';
import { createOutcomes } from './given/outcomes.ts';
import type { Guard } from './guard.ts';
import { toInboundCell } from './inbound/request-text.ts';
import { createKeptChecks } from './kept-checks.ts';
import { findNewestOf } from './newest-of-number.ts';
import type { Destination } from './pending-store.ts';
import { createRiskAsking } from './risk/ask.ts';
import { addRisk } from './risk/finding.ts';
import type { AskRisk } from './risk/risk.ts';
import { createStartBatch } from './start/batch.ts';
import type { StartRequest } from './start/decision.ts';
import type { StartAnswer, StartItem } from './start/item.ts';
import { findAllTexts } from './texts/all-texts.ts';
import { findNewestTexts, type VerificationAndText } from './texts/newest-texts.ts';
import { asOf, type Outcome, proofMs, type Verification } from './verification.ts';
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
  /** The guard as it is now, if it can change. */
  currentGuard?: () => Guard | Promise<Guard>;
  environment: 'sandbox' | 'production';
  resendSeconds: number;
  routeText: RouteText;
  /** The operator's risk check; undefined where none is configured. */
  askRisk?: AskRisk | undefined;
  /** The number that people can text for an application; undefined if there is none. */
  findInboundNumber: (applicationId: string) => Promise<string | undefined>;
  /** For the message about a channel that does not work. */
  workingChannels: () => readonly string[];
  /** True while a text may have several carriers. */
  hasChoice: () => boolean;
  signProof: (claims: {
    applicationId: string;
    verificationId: string;
    phoneNumber: string;
    approvedAtMs: number;
    expiresAtMs: number;
    amr: readonly string[];
    assurance?: string;
    payment?: Payment;
  }) => Promise<string>;
  /** Called after every commit: these carriers may have something to send, or any. */
  wake: (carriers: Woken) => void;
}

export type VerifyService = ReturnType<typeof createVerifyService>;

export interface CheckAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerificationRecord> & { valid: boolean; proof?: string };
}

/** What a caller asks about: a code, and the payment that it names (`checks.ts`). */
export interface CodeToCheck {
  code: string;
  payment?: NamedPayment;
}

/** Maximum number of lookups for a check by number: each may find a verification that is superseded meanwhile. */
const mostLookups = 5;

/** The guard does not apply to test numbers; one of them is always blocked. */
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
    currentGuard = () => guard,
    environment,
    resendSeconds,
    routeText,
    askRisk,
    findInboundNumber,
    workingChannels,
    hasChoice,
    signProof,
    wake,
  } = options;
  const starts = createStartBatch(database, {
    ...{ clock, keys, guard, currentGuard, environment, resendSeconds, routeText, hasChoice },
  });
  const find = createReadBatcher((keys: store.VerificationKey[]) => store.findByKeys(database, keys));
  const findNewest = createReadBatcher((numbers: Destination[]) => findNewestOf(database, numbers, clock.nowMs()));
  const putOutcome = createOutcomes(database, clock);
  const checks = createChecks({ database, clock, keys, environment, find });
  const keptChecks = createKeptChecks({ database, clock, checks, toAnswer: toCheckAnswer });
  const cancellations = createCancellations(database, clock);
  const explanations = createExplanations({ database, clock, keys, currentGuard });
  const withRisk = createRiskAsking({ environment, ask: askRisk, explain: explanations.submit, isPending });

  async function isPending({ applicationId, to }: Destination): Promise<boolean> {
    const id = await findNewest({ applicationId, to });
    const found = id === undefined ? undefined : await find({ applicationId, id });
    return found !== undefined && asOf(found.row, clock.nowMs()).status === 'pending';
  }

  /** Adds `inbound` to the channels that the error lists if the application has a number that people can text. */
  async function nameChannels(applicationId: string, error: unknown): Promise<unknown> {
    const isAboutStart = error instanceof ApiError && error.code === 'UNSUPPORTED_CHANNEL';
    if (!isAboutStart || error.details?.[0]?.field !== 'channel') return error;
    const number = await findInboundNumber(applicationId);
    return number === undefined ? error : unsupportedChannel([...workingChannels(), 'inbound']);
  }

  /** Adds the number that the person must text. No risk check is asked, because nothing is sent. */
  async function withNumber(request: StartRequest): Promise<StartRequest> {
    const number = await findInboundNumber(request.applicationId);
    if (number === undefined) throw unsupportedChannel(workingChannels());
    return { ...request, inbound: toInboundCell(number, request.app) };
  }

  /**
   * Explains what the guard would decide and, if it allows, what the risk check says. Stores the answer for the idempotency
   * key.
   */
  async function explainWithRisk(asked: ExplainItem, ask: AskRisk): Promise<GuardExplanation> {
    const guarded = await explanations.submit({ ...asked, keep: () => undefined });
    const { applicationId, to } = asked;
    const explained = guarded.decision === 'block' ? guarded : addRisk(guarded, await ask({ applicationId, to }));
    const kept = asked.keep(explained);
    if (kept !== undefined) await insertAnswers(database, [kept], clock.nowMs());
    return explained;
  }

  /** Signs a proof of an approval. Undefined if the approval was only reported, or if the proof has expired. */
  function proofOf({ row, all }: VerificationAndText): Promise<string> | undefined {
    if (row.status !== 'approved' || row.approvedAtMs === null || row.outcome !== null) return undefined;
    const expiresAtMs = row.approvedAtMs + proofMs;
    if (expiresAtMs <= clock.nowMs()) return undefined;
    return signProof({
      applicationId: row.applicationId,
      verificationId: row.id,
      phoneNumber: row.to,
      approvedAtMs: row.approvedAtMs,
      expiresAtMs,
      ...claimsOf(row, all),
    });
  }

  async function withTexts(rows: Verification[], nowMs: number) {
    const texts = await findNewestTexts(sideDatabase, rows);
    const several = await findAllTexts(sideDatabase, rows);
    return rows.map((row, index) => {
      const record = toVerificationRecord(asOf(row, nowMs), texts[index], { all: several.get(row.id) });
      return { id: row.id, record };
    });
  }

  async function toCheckAnswer(decided: VerificationAndText): Promise<CheckAnswer> {
    const { row, text, all } = decided;
    const record: CheckAnswer['record'] = {
      ...toVerificationRecord(row, text, { all }),
      valid: row.status === 'approved',
    };
    if (row.status === 'pending') record.reason = 'incorrect_code';
    const proof = proofOf(decided);
    if (proof !== undefined) record.proof = await proof;
    return { verification: row, record };
  }

  /** `keep` makes the answer to store for an idempotency key, which commits with the decision. */
  async function check(
    applicationId: string,
    id: string,
    { code, payment }: CodeToCheck,
    keep?: (checked: CheckAnswer) => AnswerToKeep | undefined,
  ): Promise<CheckAnswer> {
    if (!isId('ver', id)) throw notFound();
    if (keep === undefined) return toCheckAnswer(await checks.decide(applicationId, id, code, payment));
    const checked = await keptChecks.submit({ row: checks.toRow(applicationId, id, code, payment), keep });
    if (checked instanceof ApiError) throw checked;
    return checked;
  }

  /** Reads a verification with its status as of now. Throws a 404 if there is none. */
  async function require(applicationId: string, id: string): Promise<VerificationAndText> {
    const found = isId('ver', id) ? await find({ applicationId, id }) : undefined;
    if (found === undefined) throw notFound();
    return { ...found, row: asOf(found.row, clock.nowMs()) };
  }

  return {
    async start(request: StartRequest, key: string | undefined, keep: StartItem['keep']): Promise<StartAnswer> {
      let asked = request;
      if (request.channel === 'inbound') asked = await withNumber(request);
      else if (askRisk !== undefined) asked = await withRisk(request);
      const item = { request: asked, key, keep };
      const { trace } = request;
      const sinceMs = trace === undefined ? 0 : clock.steadyMs();
      // Another node took the number between our read and our write; the second try continues its verification.
      const answer = await starts.submit(item).catch((error: unknown) => {
        if (!violates(error, 'verification_pending')) throw error;
        return starts.submit(item);
      });
      trace?.note('batch', sinceMs);
      if (answer instanceof ApiError) throw answer;
      wake(answer.carriers);
      return answer;
    },

    nameChannels,

    check,

    /**
     * Checks a code for the pending verification of a number, else for its newest one. If another start supersedes that one
     * meanwhile, the code is checked for the newer one.
     */
    async checkNumber(
      applicationId: string,
      to: string,
      given: CodeToCheck,
      keep?: (checked: CheckAnswer) => AnswerToKeep,
    ): Promise<CheckAnswer> {
      for (let left = mostLookups; ; left--) {
        const id = await findNewest({ applicationId, to });
        if (id === undefined) throw notFound();
        const isFinal = ({ verification: { reason } }: CheckAnswer) => reason !== 'superseded' || left === 1;
        const checked = await check(
          applicationId,
          id,
          given,
          keep && ((each) => (isFinal(each) ? keep(each) : undefined)),
        );
        if (isFinal(checked)) return checked;
      }
    },

    /** Takes the result of a code that the caller made and checked. */
    async report(applicationId: string, id: string, outcome: Outcome) {
      if (!isId('ver', id)) throw notFound();
      const { row, text, all } = await putOutcome({ applicationId, id }, outcome);
      return toVerificationRecord(row, text, { all });
    },

    require,

    /** The pending verification of a number, else its newest of the last 24 hours. */
    findNewest: (applicationId: string, to: string): Promise<string | undefined> => findNewest({ applicationId, to }),

    async read(applicationId: string, id: string) {
      const found = await require(applicationId, id);
      const record = toVerificationRecord(found.row, found.text, { all: found.all });
      const proof = proofOf(found);
      return proof === undefined ? record : { ...record, proof: await proof };
    },

    async list(applicationId: string, filter: VerificationFilter, page: PageRequest) {
      const nowMs = clock.nowMs();
      return withTexts(await listVerifications(sideDatabase, applicationId, filter, page, nowMs), nowMs);
    },

    /** Lists verifications whose number contains these digits. It reads a bounded number of verifications. */
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

    /** What the guard would decide for a start now, and why. `keep` commits the answer with it. */
    async explain(
      applicationId: string,
      to: string,
      holds: readonly GuardHold[],
      keep: ExplainItem['keep'],
    ): Promise<GuardExplanation> {
      const test = environment === 'sandbox' ? testNumberOf(to) : undefined;
      if (test === undefined) {
        const isHeld = environment !== 'sandbox';
        const item = { applicationId, to, holds: isHeld ? holds : undefined, keep };
        return askRisk === undefined ? explanations.submit(item) : explainWithRisk(item, askRisk);
      }
      const explained = explainTestNumber(test.kind === 'blocked');
      const kept = keep(explained);
      if (kept !== undefined) await insertAnswers(database, [kept], clock.nowMs());
      return explained;
    },

    async drain(): Promise<void> {
      await starts.drain();
      await checks.drain();
      await keptChecks.drain();
      await cancellations.drain();
      await explanations.drain();
    },
  };
}
