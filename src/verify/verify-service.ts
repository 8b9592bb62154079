import { cancelTexts, insertMessages, newestTexts } from '../messages/message-store.ts';
import { createBatch } from '../platform/batch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { violates } from '../platform/database-errors.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import { type IdempotencyRow, insertAnswers } from '../platform/idempotency.ts';
import type { KeyRing } from '../platform/keys.ts';
import { matchingVersions, testCode } from './code.ts';
import { type Guard, reasonOf } from './guard.ts';
import { decideStart, type Started, type StartRequest, sightingOf } from './start.ts';
import { asOf, prefixOf, type Verification } from './verification.ts';
import { type TextState, toVerification } from './verification-record.ts';
import * as store from './verification-store.ts';

export interface VerifyServiceOptions {
  database: Database;
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
  /** Told after every commit that a text is due. */
  wake: () => void;
}

export type VerifyService = ReturnType<typeof createVerifyService>;

/** What was written for a start, and the record that answers it. */
export interface StartAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerification>;
}

interface StartItem {
  request: StartRequest;
  /** Turns the record into the answer to keep for an idempotency key, which commits with it. */
  keep: (answer: StartAnswer) => IdempotencyRow | undefined;
  key: string | undefined;
}

export interface Checked {
  verification: Verification;
  record: ReturnType<typeof toVerification> & { valid: boolean; proof?: string };
}

const proofMs = 600_000;

export function createVerifyService(options: VerifyServiceOptions) {
  const { database, clock, keys, guard, environment, resendSeconds, signProof, wake } = options;
  const rules = { clock, guard, environment, resendSeconds, ringVersion: keys.version };
  const nameOf = ({ applicationId, recipient }: store.Destination) => `${applicationId} ${recipient}`;

  /** Verifications and their texts in one commit. Of two nodes at one number the index refuses one. */
  const starts = createBatch<StartItem, StartAnswer>({
    database,
    clock,
    repeatable: true,
    keysOf: ({ request, key }) => [
      nameOf({ applicationId: request.applicationId, recipient: request.to }),
      ...(key === undefined ? [] : [`key ${key}`]),
    ],
    async run(tx, items) {
      const nowMs = clock.nowMs();
      const destinations = items.map(({ request }) => ({
        applicationId: request.applicationId,
        recipient: request.to,
        prefix: prefixOf(request.to),
      }));
      await store.expireLapsed(tx, destinations, nowMs);
      const pending = new Map((await store.lockPending(tx, destinations)).map((row) => [nameOf(row), row]));
      const counts = new Map((await store.countStarts(tx, destinations, nowMs)).map((row) => [nameOf(row), row]));
      const started = items.map(({ request }, index) => {
        const name = nameOf(destinations[index] as store.Destination);
        return decideStart(rules, request, pending.get(name), counts.get(name));
      });
      await writeStarts(tx, started, nowMs);
      const answers = await answersTo(tx, started);
      await insertAnswers(
        tx,
        items.flatMap(({ keep }, index) => keep(answers[index] as StartAnswer) ?? []),
        nowMs,
      );
      return answers;
    },
  });

  async function writeStarts(tx: Tx, started: Started[], nowMs: number): Promise<void> {
    const superseded = started.flatMap((each) => each.superseded ?? []);
    // They give their number up before the new ones take it.
    await store.putVerifications(tx, superseded);
    await cancelTexts(
      tx,
      superseded.map(({ id }) => id),
      nowMs,
    );
    await store.putVerifications(
      tx,
      started
        .filter(({ message, verification }) => message !== undefined || verification.status === 'blocked')
        .map((each) => each.verification),
    );
    await insertMessages(
      tx,
      started.flatMap(({ message }) => message ?? []),
    );
  }

  async function answersTo(tx: Tx, started: Started[]): Promise<StartAnswer[]> {
    const unsent = started.filter(({ message }) => message === undefined).map(({ verification }) => verification.id);
    const texts = await textsOf(tx, unsent);
    return started.map(({ verification, message }) => {
      const text: TextState | undefined =
        message === undefined
          ? texts.get(verification.id)
          : { verificationId: verification.id, messageId: message.id, status: message.status, errorCode: null };
      return { verification, record: toVerification(verification, text) };
    });
  }

  async function textsOf(tx: Tx, ids: string[]): Promise<Map<string, TextState>> {
    return new Map((await newestTexts(tx, ids)).map((text) => [text.verificationId, text]));
  }

  /** Checks that arrive together are decided together; two of one verification never are. */
  const checks = createBatch<store.CheckRow, { row: Verification; text: TextState | undefined } | undefined>({
    database,
    clock,
    repeatable: false,
    keysOf: ({ id }) => [id],
    run: (tx, items) => decide(tx, items),
  });

  async function decide(tx: Tx, items: store.CheckRow[]) {
    const rows = new Map((await store.decideChecks(tx, items, clock.nowMs())).map((row) => [row.id, row]));
    const texts = await textsOf(tx, [...rows.keys()]);
    return items.map(({ id }) => {
      const row = rows.get(id);
      return row === undefined ? undefined : { row, text: texts.get(id) };
    });
  }

  async function requireVerification(tx: Tx, applicationId: string, id: string): Promise<Verification> {
    const found = await store.findVerification(tx, applicationId, id);
    if (found === undefined) throw notFound();
    return asOf(found, clock.nowMs());
  }

  /** Nothing was decided: it is not there, the code is of another length, or it was over before. */
  async function explainUndecided(
    tx: Tx,
    item: store.CheckRow,
  ): Promise<{ row: Verification; text: TextState | undefined }> {
    const row = await requireVerification(tx, item.applicationId, item.id);
    if (row.codeLength !== item.codeLength) throw invalidField('code', `must be ${row.codeLength} digits, as a string`);
    if (row.status === 'approved') {
      throw new ApiError('VERIFICATION_ALREADY_APPROVED', 'This verification was approved before. A code counts once.');
    }
    return { row, text: (await textsOf(tx, [row.id])).get(row.id) };
  }

  async function proofOf(row: Verification): Promise<{ proof?: string }> {
    if (row.status !== 'approved' || row.approvedAtMs === null) return {};
    const expiresAtMs = row.approvedAtMs + proofMs;
    if (expiresAtMs <= clock.nowMs()) return {};
    const proof = await signProof({
      applicationId: row.applicationId,
      verificationId: row.id,
      phoneNumber: row.recipient,
      approvedAtMs: row.approvedAtMs,
      expiresAtMs,
    });
    return { proof };
  }

  return {
    async start(request: StartRequest, key: string | undefined, keep: StartItem['keep']): Promise<StartAnswer> {
      const item = { request, key, keep };
      // Another node took the number between our look and our write: now there is one to continue.
      const answer = await starts.submit(item).catch((error: unknown) => {
        if (!violates(error, 'verification_pending')) throw error;
        return starts.submit(item);
      });
      wake();
      return answer;
    },

    /** `keep` commits the answer with the decision; without a key the check shares its commit with others. */
    async check(
      applicationId: string,
      id: string,
      code: string,
      keep?: (checked: Checked) => IdempotencyRow,
    ): Promise<Checked> {
      const item: store.CheckRow = {
        id,
        applicationId,
        codeLength: code.length,
        matching: matchingVersions(keys, id, code),
        isTestCode: environment === 'sandbox' && code === testCode(code.length),
      };
      const toChecked = async (decided: { row: Verification; text: TextState | undefined }): Promise<Checked> => {
        const { row, text } = decided;
        const valid = row.status === 'approved';
        const reason = row.status === 'pending' ? 'incorrect_code' : row.reason;
        const record = { ...toVerification(row, text), reason, valid, ...(await proofOf(row)) };
        return { verification: row, record };
      };
      if (keep === undefined) {
        const decided = (await checks.submit(item)) ?? (await explainUndecided(database, item));
        return toChecked(decided);
      }
      return database.transaction(async (tx) => {
        const [decided] = await decide(tx, [item]);
        const checked = await toChecked(decided ?? (await explainUndecided(tx, item)));
        await insertAnswers(tx, [keep(checked)], clock.nowMs());
        return checked;
      });
    },

    async read(applicationId: string, id: string) {
      const row = await requireVerification(database, applicationId, id);
      const text = (await textsOf(database, [id])).get(id);
      return { ...toVerification(row, text), ...(await proofOf(row)) };
    },

    async list(
      applicationId: string,
      filter: { to?: string | undefined; status?: string | undefined; reference?: string | undefined },
      page: { limit: number; after: string | undefined },
    ) {
      const nowMs = clock.nowMs();
      if (filter.status !== undefined) await store.expireAllLapsed(database, applicationId, nowMs);
      const rows = await store.listVerifications(database, applicationId, filter, page);
      const texts = await textsOf(
        database,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => ({ id: row.id, record: toVerification(asOf(row, nowMs), texts.get(row.id)) }));
    },

    cancel: (applicationId: string, id: string) =>
      database.transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const canceled = await store.cancelPending(tx, applicationId, id, nowMs);
        if (canceled === undefined) {
          const { status } = await requireVerification(tx, applicationId, id);
          throw new ApiError('INCOMPATIBLE_STATE', `The verification is ${status} and cannot be canceled any more.`);
        }
        await cancelTexts(tx, [id], nowMs);
        return toVerification(canceled, (await textsOf(tx, [id])).get(id));
      }),

    /** What the guard would say to a start now, and why. */
    async explain(applicationId: string, to: string) {
      const destination = { applicationId, recipient: to, prefix: prefixOf(to) };
      const [counts] = await store.countStarts(database, [destination], clock.nowMs());
      const findings = guard.judge(sightingOf(to, counts));
      const reason = reasonOf(findings);
      return {
        decision: reason === null ? 'allow' : 'block',
        reason,
        rules: findings.map(({ rule, limit, seen }) => ({ rule, limit, seen })),
      };
    },

    /** For an answer that nothing else is written with. */
    async keep(row: IdempotencyRow | undefined): Promise<void> {
      if (row !== undefined) await insertAnswers(database, [row], clock.nowMs());
    },

    async drain(): Promise<void> {
      await starts.drain();
      await checks.drain();
    },
  };
}
