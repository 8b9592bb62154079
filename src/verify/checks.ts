import { createBatch } from '../platform/batch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import type { KeyRing } from '../platform/keys.ts';
import { matchingVersions, testCode } from './code.ts';
import { asOf, longestTtlSeconds, type Verification } from './verification.ts';
import type { TextState } from './verification-record.ts';
import {
  type CheckRow,
  decideChecks,
  findByKeys,
  findVerification,
  type VerificationKey,
  type VerificationWithText,
} from './verification-store.ts';

export interface VerificationAndText {
  row: Verification;
  text: TextState | undefined;
}

export interface Checks {
  /** Shares a commit with checks of other verifications. Two checks of one verification never share a statement. */
  decide(applicationId: string, id: string, code: string): Promise<VerificationAndText>;
  /** The same, inside the caller's transaction. */
  decideIn(tx: Tx, applicationId: string, id: string, code: string): Promise<VerificationAndText>;
  require(tx: Tx, applicationId: string, id: string): Promise<Verification>;
  drain(): Promise<void>;
}

export function createChecks(options: {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  environment: 'sandbox' | 'production';
  /** Reads a verification; concurrent reads share one query. */
  find: (key: VerificationKey) => Promise<VerificationWithText | undefined>;
}): Checks {
  const { database, clock, keys, environment, find } = options;

  async function run(tx: Tx, items: CheckRow[]): Promise<(VerificationAndText | undefined)[]> {
    const decided = new Map((await decideChecks(tx, items, clock.nowMs())).map((row) => [row.id, separateText(row)]));
    return items.map(({ id }) => decided.get(id));
  }

  const batch = createBatch<CheckRow, VerificationAndText | undefined>({
    database,
    clock,
    repeatable: false,
    ownerOf: ({ applicationId }) => applicationId,
    keysOf: ({ id }) => [id],
    withoutTransaction: () => true,
    run,
  });

  /** Compares the code before any row is touched. */
  function toRow(applicationId: string, id: string, code: string): CheckRow {
    return {
      id,
      applicationId,
      codeLength: code.length,
      rightUnder: matchingVersions(keys, id, code, clock.nowMs() - longestTtlSeconds * 1000),
      isTestCode: environment === 'sandbox' && code === testCode(code.length),
    };
  }

  async function require(tx: Tx, applicationId: string, id: string): Promise<Verification> {
    const found = await findVerification(tx, applicationId, id);
    if (found === undefined) throw notFound();
    return asOf(found, clock.nowMs());
  }

  /** For a check that changed no row: the verification does not exist, or it had ended before. */
  function explainUndecided(found: VerificationWithText | undefined): VerificationAndText {
    if (found === undefined) throw notFound();
    const { row, text } = separateText(found);
    if (row.status === 'approved') {
      throw new ApiError('VERIFICATION_ALREADY_APPROVED', 'This verification is already approved. A code works once.');
    }
    return { row: asOf(row, clock.nowMs()), text };
  }

  return {
    async decide(applicationId, id, code) {
      const item = toRow(applicationId, id, code);
      return (await batch.submit(item)) ?? explainUndecided(await find(item));
    },
    async decideIn(tx, applicationId, id, code) {
      const item = toRow(applicationId, id, code);
      const [decided] = await run(tx, [item]);
      return decided ?? explainUndecided((await findByKeys(tx, [item]))[0]);
    },
    require,
    drain: () => batch.drain(),
  };
}

export function separateText(row: VerificationWithText): VerificationAndText {
  const { id: verificationId, messageId, messageStatus: status, errorCode } = row;
  return { row, text: messageId === null ? undefined : { verificationId, messageId, status, errorCode } };
}
