// Tests: test/races/verifications.test.ts, test/contract/verification-model.test.ts
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { type CheckRow, decideChecks, spendTries } from './check-store.ts';
import { matchingVersions, testCode } from './code.ts';
import { possibleHashes } from './given/code.ts';
import type { VerificationAndText } from './texts/newest-texts.ts';
import { asOf, longestTtlSeconds } from './verification.ts';
import { findByKeys, type VerificationKey } from './verification-store.ts';

export interface Checks {
  /** Shares a commit with other checks. Two checks of one verification never share a statement. */
  decide(applicationId: string, id: string, code: string): Promise<VerificationAndText>;
  /** The input of `decideIn`. Compares the code before any row is read. */
  toRow(applicationId: string, id: string, code: string): CheckRow;
  /** The same in the caller's transaction, one after the other. An error refuses only its own check. */
  decideIn(tx: Tx, rows: CheckRow[]): Promise<(VerificationAndText | ApiError)[]>;
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

  const run = (tx: Tx, items: CheckRow[], decide = decideChecks) =>
    oneByOne(items, (some) => decide(tx, some, clock.nowMs()));
  const createChecksBatch = (decide: typeof decideChecks) =>
    createBatch<CheckRow, VerificationAndText | undefined>({
      database,
      clock,
      repeatable: false,
      ownerOf: ({ applicationId }) => applicationId,
      keysOf: ({ id }) => [id],
      repeats: true,
      // One statement is one transaction; several checks of a verification take several statements.
      withoutTransaction: (items) => new Set(items.map(({ id }) => id)).size === items.length,
      run: (tx, items) => run(tx, items, decide),
    });
  const batch = createChecksBatch(decideChecks);
  /** Codes that are wrong, unless the caller made them. One that ends its verification is left to the other batch. */
  const wrong = createChecksBatch(spendTries);

  function toRow(applicationId: string, id: string, code: string): CheckRow {
    const sinceMs = clock.nowMs() - longestTtlSeconds * 1000;
    return {
      id,
      applicationId,
      codeLength: code.length,
      rightUnder: matchingVersions(keys, id, code, sinceMs),
      isTestCode: environment === 'sandbox' && code === testCode(code.length),
      hashes: possibleHashes(keys, id, code, sinceMs),
    };
  }

  /** For a check that changed no row: the verification does not exist, or it had already ended. */
  function explainUndecided(found: VerificationAndText | undefined): VerificationAndText | ApiError {
    if (found === undefined) return notFound();
    if (found.row.status === 'approved') {
      return new ApiError('VERIFICATION_ALREADY_APPROVED', 'This verification is already approved. A code works once.');
    }
    return { ...found, row: asOf(found.row, clock.nowMs()) };
  }

  return {
    async decide(applicationId, id, code) {
      const item = toRow(applicationId, id, code);
      const spent = item.rightUnder.length > 0 || item.isTestCode ? undefined : await wrong.submit(item);
      const decided = spent ?? (await batch.submit(item)) ?? explainUndecided(await find(item));
      if (decided instanceof ApiError) throw decided;
      return decided;
    },
    toRow,
    async decideIn(tx, rows) {
      const decided = await run(tx, rows);
      const undecided = rows.filter((_, index) => decided[index] === undefined);
      const found = undecided.length === 0 ? [] : await findByKeys(tx, undecided);
      return decided.map((each) => each ?? explainUndecided(found.shift()));
    },
    async drain() {
      await wrong.drain();
      await batch.drain();
    },
  };
}

/**
 * The first check of each verification, then the second of each, and so on: a statement sees only the state before it.
 * After a check that changed no row, later ones cannot change it either: a verification does not reopen.
 */
async function oneByOne<Item extends VerificationKey>(
  items: Item[],
  decide: (some: Item[]) => Promise<VerificationAndText[]>,
): Promise<(VerificationAndText | undefined)[]> {
  const results = new Map<Item, VerificationAndText>();
  const over = new Set<string>();
  for (let left = items; left.length > 0; ) {
    const round = firstOfEach(left);
    const decided = new Map((await decide(round)).map((each) => [nameOf(each.row), each]));
    for (const item of round) {
      const found = decided.get(nameOf(item));
      if (found === undefined) over.add(nameOf(item));
      else results.set(item, found);
    }
    const done = new Set(round);
    left = left.filter((item) => !done.has(item) && !over.has(nameOf(item)));
  }
  return items.map((item) => results.get(item));
}

function firstOfEach<Item extends VerificationKey>(items: Item[]): Item[] {
  const firsts = new Map<string, Item>();
  for (const item of items) if (!firsts.has(item.id)) firsts.set(item.id, item);
  return [...firsts.values()];
}

/** Another application may send the same id: its answer reveals nothing about the owner's verification. */
const nameOf = ({ applicationId, id }: VerificationKey) => `${applicationId} ${id}`;
