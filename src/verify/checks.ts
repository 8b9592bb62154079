// Tests: test/races/verifications.test.ts, test/contract/verification-model.test.ts
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import { isSamePayment } from './assurance/payment.ts';
import { type CheckRow, decideChecks, spendTries } from './check-store.ts';
import { matchingVersions, testCode } from './code.ts';
import { possibleHashes } from './given/code.ts';
import type { VerificationAndText } from './texts/newest-texts.ts';
import { asOf, longestTtlSeconds } from './verification.ts';
import { findByKeys, type VerificationKey } from './verification-store.ts';

/**
 * The payment that a check names, as stored. Null: the check says there is none. Undefined: it says nothing, so any is
 * accepted.
 */
export type NamedPayment = string | null | undefined;

export interface NamedCheck extends CheckRow {
  code: string;
  named: NamedPayment;
}

export interface Checks {
  /** Shares a commit with other checks. Two checks of one verification never share a statement. */
  decide(applicationId: string, id: string, code: string, named: NamedPayment): Promise<VerificationAndText>;
  /** Makes the input of `decideIn`. Compares the code before any row is read. */
  toRow(applicationId: string, id: string, code: string, named: NamedPayment): NamedCheck;
  /** Decides checks in the caller's transaction, one after the other. An error refuses only its own check. */
  decideIn(tx: Tx, rows: NamedCheck[]): Promise<(VerificationAndText | ApiError)[]>;
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
  /**
   * Counts codes that do not derive from the id. It changes no row for the last try, nor for the right code of a caller:
   * `batch` decides these.
   */
  const wrong = createChecksBatch(spendTries);

  function toRow(applicationId: string, id: string, code: string, named: NamedPayment): NamedCheck {
    return toRowFor({ applicationId, id, code, named }, named ?? null);
  }

  function toRowFor(
    { applicationId, id, code, named }: Pick<NamedCheck, 'applicationId' | 'id' | 'code' | 'named'>,
    payment: string | null,
  ): NamedCheck {
    const sinceMs = clock.nowMs() - longestTtlSeconds * 1000;
    return {
      id,
      applicationId,
      code,
      named,
      payment,
      codeLength: code.length,
      rightUnder: matchingVersions(keys, id, code, sinceMs, payment),
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
    const row = asOf(found.row, clock.nowMs());
    if (row.inbound !== null && row.status === 'pending')
      return new ApiError('INCOMPATIBLE_STATE', 'This verification has no code: the person sends its text.');
    return { ...found, row };
  }

  /**
   * Repeats a check that named no payment with that of the verification; undefined if the payment is not why it changed no
   * row.
   */
  function withPayment(item: NamedCheck, found: VerificationAndText | undefined): NamedCheck | ApiError | undefined {
    if (found === undefined) return undefined;
    const { payment } = found.row;
    if (item.named !== undefined && !isSamePayment(item.named, payment)) return otherPayment();
    const isOpen = asOf(found.row, clock.nowMs()).status === 'pending';
    return isOpen && payment !== item.payment ? toRowFor(item, payment) : undefined;
  }

  async function submit(item: NamedCheck): Promise<VerificationAndText | undefined> {
    const spent = item.rightUnder.length > 0 || item.isTestCode ? undefined : await wrong.submit(item);
    return spent ?? (await batch.submit(item));
  }

  return {
    async decide(applicationId, id, code, named) {
      const item = toRow(applicationId, id, code, named);
      let decided: VerificationAndText | ApiError | undefined = await submit(item);
      if (decided === undefined) {
        const found = await find(item);
        const again = withPayment(item, found);
        if (again instanceof ApiError) throw again;
        decided = again === undefined ? explainUndecided(found) : await submit(again);
        decided ??= explainUndecided(await find(item));
      }
      if (decided instanceof ApiError) throw decided;
      return decided;
    },
    toRow,
    async decideIn(tx, rows) {
      const decided: (VerificationAndText | ApiError | undefined)[] = await run(tx, rows);
      const undecided = rows.filter((_, index) => decided[index] === undefined);
      if (undecided.length === 0) return decided.map((each) => each ?? notFound());
      const found = await findByKeys(tx, undecided);
      const again = undecided.map((item, index) => withPayment(item, found[index]));
      const named = again.filter((each): each is NamedCheck => each !== undefined && !(each instanceof ApiError));
      const second = await run(tx, named);
      const late = named.some((_, index) => second[index] === undefined) ? await findByKeys(tx, undecided) : found;
      const results = again.map((each, index) => {
        if (each instanceof ApiError) return each;
        return (each && second[named.indexOf(each)]) ?? explainUndecided(late[index]);
      });
      return decided.map((each) => each ?? results.shift() ?? notFound());
    },
    async drain() {
      await wrong.drain();
      await batch.drain();
    },
  };
}

function otherPayment(): ApiError {
  return invalidField(
    'payment',
    'must be the payment that the verification was started with, or absent if it has none',
  );
}

/**
 * The first check of each verification, then the second of each, and so on: a statement sees only the state before it.
 * After a check that changed no row, later ones that name the same payment cannot change it either: a verification does
 * not reopen.
 */
async function oneByOne<Item extends CheckRow>(
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
      if (found === undefined) over.add(triedAs(item));
      else results.set(item, found);
    }
    const done = new Set(round);
    left = left.filter((item) => !done.has(item) && !over.has(triedAs(item)));
  }
  return items.map((item) => results.get(item));
}

const triedAs = (item: CheckRow) => (item.payment === null ? nameOf(item) : `${nameOf(item)} ${item.payment}`);

function firstOfEach<Item extends VerificationKey>(items: Item[]): Item[] {
  const firsts = new Map<string, Item>();
  for (const item of items) if (!firsts.has(item.id)) firsts.set(item.id, item);
  return [...firsts.values()];
}

/** Another application may send the same id: its answer reveals nothing about the owner's verification. */
const nameOf = ({ applicationId, id }: VerificationKey) => `${applicationId} ${id}`;
