import { cancelTexts } from '../messages/message-store.ts';
import { testNumberOf } from '../messages/test-numbers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { violates } from '../platform/database-errors.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import type { FairShare } from '../platform/fair-share.ts';
import { createGather } from '../platform/gather.ts';
import { type IdempotencyRow, insertAnswers } from '../platform/idempotency.ts';
import { isId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { createChecks, type Decided, toDecided } from './checks.ts';
import type { Finding, Guard } from './guard.ts';
import { type StartRequest, sightingOf } from './start.ts';
import { createStarts, type StartAnswer, type StartItem } from './starts.ts';
import { textsOf } from './text-states.ts';
import { asOf, type BlockReason, prefixOf, type Verification } from './verification.ts';
import { listVerifications, type VerificationFilter, type VerificationPage } from './verification-list.ts';
import { toVerification } from './verification-record.ts';
import * as store from './verification-store.ts';

export interface VerifyServiceOptions {
  database: Database;
  /** For lists and the guard's explanations; defaults to `database`. */
  sideDatabase?: Database;
  /** Callers take turns here for transactions that cannot share a batch. */
  singles: FairShare;
  clock: Clock;
  keys: KeyRing;
  guard: Guard;
  environment: 'sandbox' | 'production';
  resendSeconds: number;
  signProof: (claims: {
    applicationId: string;
    verificationId: string;
    phoneNumber: string;
    approvedAtMs: number;
    expiresAtMs: number;
  }) => Promise<string>;
  /** Called after every commit: a text may be due. */
  wake: () => void;
}

export type VerifyService = ReturnType<typeof createVerifyService>;

export interface Checked {
  verification: Verification;
  record: ReturnType<typeof toVerification> & { valid: boolean; proof?: string };
}

const proofMs = 600_000;

export interface Explained {
  decision: 'allow' | 'block';
  reason: BlockReason | null;
  rules: Finding[];
}

/** Test numbers know no guard; one of them is blocked on purpose. */
function explainTestNumber(isBlocked: boolean): Explained {
  if (!isBlocked) return { decision: 'allow', reason: null, rules: [] };
  return { decision: 'block', reason: 'block_list', rules: [{ rule: 'block_list', limit: null, seen: true }] };
}

export function createVerifyService(options: VerifyServiceOptions) {
  const {
    database,
    sideDatabase = database,
    singles,
    clock,
    keys,
    guard,
    environment,
    resendSeconds,
    signProof,
    wake,
  } = options;
  const starts = createStarts(database, { clock, guard, environment, resendSeconds, ringVersion: keys.version });
  const find = createGather((keys: store.VerificationKey[]) => store.findByKeys(database, keys));
  const checks = createChecks({ database, clock, keys, environment, find });

  /** Undefined unless approved, and after the proof has expired. */
  function proofOf(row: Verification): Promise<string> | undefined {
    if (row.status !== 'approved' || row.approvedAtMs === null) return undefined;
    const expiresAtMs = row.approvedAtMs + proofMs;
    if (expiresAtMs <= clock.nowMs()) return undefined;
    return signProof({
      applicationId: row.applicationId,
      verificationId: row.id,
      phoneNumber: row.recipient,
      approvedAtMs: row.approvedAtMs,
      expiresAtMs,
    });
  }

  async function toChecked({ row, text }: Decided): Promise<Checked> {
    const record: Checked['record'] = { ...toVerification(row, text), valid: row.status === 'approved' };
    if (row.status === 'pending') record.reason = 'incorrect_code';
    const proof = proofOf(row);
    if (proof !== undefined) record.proof = await proof;
    return { verification: row, record };
  }

  return {
    async start(request: StartRequest, key: string | undefined, keep: StartItem['keep']): Promise<StartAnswer> {
      const item = { request, key, keep };
      // Another node took the number between our read and our write; the second try continues its verification.
      const answer = await starts.submit(item).catch((error: unknown) => {
        if (!violates(error, 'verification_pending')) throw error;
        return starts.submit(item);
      });
      wake();
      return answer;
    },

    /** `keep` commits the answer with the decision. Without a key, the check shares its commit with others. */
    async check(
      applicationId: string,
      id: string,
      code: string,
      keep?: (checked: Checked) => IdempotencyRow,
    ): Promise<Checked> {
      if (!isId('ver', id)) throw notFound();
      if (keep === undefined) return toChecked(await checks.decide(applicationId, id, code));
      const checkOnce = () =>
        database.transaction(async (tx) => {
          const checked = await toChecked(await checks.decideIn(tx, applicationId, id, code));
          await insertAnswers(tx, [keep(checked)], clock.nowMs());
          return checked;
        });
      return singles.run(applicationId, checkOnce);
    },

    async read(applicationId: string, id: string) {
      const found = isId('ver', id) ? await find({ applicationId, id }) : undefined;
      if (found === undefined) throw notFound();
      const { row, text } = toDecided(found);
      const now = asOf(row, clock.nowMs());
      const record = toVerification(now, text);
      const proof = proofOf(now);
      return proof === undefined ? record : { ...record, proof: await proof };
    },

    async list(applicationId: string, filter: VerificationFilter, page: VerificationPage) {
      const nowMs = clock.nowMs();
      const rows = await listVerifications(sideDatabase, applicationId, filter, page, nowMs);
      const texts = await textsOf(
        sideDatabase,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => ({ id: row.id, record: toVerification(asOf(row, nowMs), texts.get(row.id)) }));
    },

    cancel: (applicationId: string, id: string) =>
      database.transaction(async (tx) => {
        if (!isId('ver', id)) throw notFound();
        const nowMs = clock.nowMs();
        const canceled = await store.cancelPending(tx, applicationId, id, nowMs);
        if (canceled === undefined) {
          const { status } = await checks.require(tx, applicationId, id);
          throw new ApiError('INCOMPATIBLE_STATE', `The verification is ${status} and can no longer be canceled.`);
        }
        await cancelTexts(tx, [id], nowMs);
        return toVerification(canceled, (await textsOf(tx, [id])).get(id));
      }),

    /** What the guard would decide for a start now, and why. */
    async explain(applicationId: string, to: string): Promise<Explained> {
      const test = environment === 'sandbox' ? testNumberOf(to) : undefined;
      if (test !== undefined) return explainTestNumber(test.kind === 'blocked');
      const destination = { applicationId, recipient: to, prefix: prefixOf(to) };
      const [counts] = await store.countStarts(sideDatabase, [destination], guard.explainedTo, clock.nowMs());
      const sighting = sightingOf(to, counts);
      const reason = guard.refusal(sighting);
      return { decision: reason === null ? 'allow' : 'block', reason, rules: guard.findings(sighting) };
    },

    /** Stores an answer that has no other row to commit with. */
    async keep(row: IdempotencyRow | undefined): Promise<void> {
      if (row !== undefined) await insertAnswers(sideDatabase, [row], clock.nowMs());
    },

    async drain(): Promise<void> {
      await starts.drain();
      await checks.drain();
    },
  };
}
