import { createBatch } from '../platform/batch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import type { KeyRing } from '../platform/keys.ts';
import { type CheckRow, decideChecks, spendTries } from './check-store.ts';
import { matchingVersions, testCode } from './code.ts';
import type { VerificationAndText } from './newest-texts.ts';
import { asOf, longestTtlSeconds, type Verification } from './verification.ts';
import { findByKeys, findVerification, type VerificationKey } from './verification-store.ts';

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
  /** Concurrent reads share one query. */
  find: (key: VerificationKey) => Promise<VerificationAndText | undefined>;
}): Checks {
  const { database, clock, keys, environment, find } = options;

  async function run(tx: Tx, items: CheckRow[]): Promise<(VerificationAndText | undefined)[]> {
    return inOrder(items, await decideChecks(tx, items, clock.nowMs()));
  }

  const shared = {
    database,
    clock,
    repeatable: false,
    ownerOf: ({ applicationId }: VerificationKey) => applicationId,
    keysOf: ({ id }: VerificationKey) => [id],
    withoutTransaction: () => true,
  };
  const batch = createBatch<CheckRow, VerificationAndText | undefined>({ ...shared, run });
  /** Codes that are wrong whatever their row says. One that ends its verification is left to the other batch. */
  const wrong = createBatch<VerificationKey, VerificationAndText | undefined>({
    ...shared,
    run: async (tx, items) => inOrder(items, await spendTries(tx, items, clock.nowMs())),
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
  function explainUndecided(found: VerificationAndText | undefined): VerificationAndText {
    if (found === undefined) throw notFound();
    if (found.row.status === 'approved') {
      throw new ApiError('VERIFICATION_ALREADY_APPROVED', 'This verification is already approved. A code works once.');
    }
    return { ...found, row: asOf(found.row, clock.nowMs()) };
  }

  return {
    async decide(applicationId, id, code) {
      const item = toRow(applicationId, id, code);
      const spent = item.rightUnder.length > 0 || item.isTestCode ? undefined : await wrong.submit(item);
      return spent ?? (await batch.submit(item)) ?? explainUndecided(await find(item));
    },
    async decideIn(tx, applicationId, id, code) {
      const item = toRow(applicationId, id, code);
      const [decided] = await run(tx, [item]);
      return decided ?? explainUndecided((await findByKeys(tx, [item]))[0]);
    },
    require,
    async drain() {
      await wrong.drain();
      await batch.drain();
    },
  };
}

function inOrder(items: VerificationKey[], decided: VerificationAndText[]): (VerificationAndText | undefined)[] {
  const byId = new Map(decided.map((each) => [each.row.id, each]));
  return items.map(({ id }) => byId.get(id));
}
