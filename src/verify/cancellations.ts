// Tests: test/contract/verifications.test.ts, test/races/verifications.test.ts
import { cancelTexts } from '../messages/message-store.ts';
import type { Clock } from '../platform/clock.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { findAllTexts } from './texts/all-texts.ts';
import { findNewestTexts, type VerificationAndText } from './texts/newest-texts.ts';
import { asOf } from './verification.ts';
import { toVerificationRecord } from './verification-record.ts';
import { cancelPending, findByKeys, type VerificationKey } from './verification-store.ts';

type VerificationRecord = ReturnType<typeof toVerificationRecord>;

/** Cancels verifications and their texts, for many callers in one commit. An error says why one was not canceled. */
export function createCancellations(
  database: Database,
  clock: Clock,
): Batch<VerificationKey, VerificationRecord | ApiError> {
  async function cancelAll(tx: Tx, keys: VerificationKey[], nowMs: number): Promise<Map<string, VerificationRecord>> {
    const canceled = await cancelPending(tx, keys, nowMs);
    await cancelTexts(
      tx,
      canceled.flatMap(({ textIds }) => textIds),
      nowMs,
    );
    const texts = await findNewestTexts(tx, canceled);
    const several = await findAllTexts(tx, canceled);
    return new Map(
      canceled.map((row, index) => [row.id, toVerificationRecord(row, texts[index], { all: several.get(row.id) })]),
    );
  }

  function refusalOf(found: VerificationAndText | undefined, nowMs: number): ApiError {
    if (found === undefined) return notFound();
    const { status } = asOf(found.row, nowMs);
    return new ApiError('INCOMPATIBLE_STATE', `The verification is ${status} and can no longer be canceled.`);
  }

  return createBatch<VerificationKey, VerificationRecord | ApiError>({
    database,
    clock,
    repeatable: false,
    // Of several requests for one verification, the first cancels it.
    repeats: true,
    ownerOf: ({ applicationId }) => applicationId,
    keysOf: ({ id }) => [id],
    async run(tx, keys) {
      const nowMs = clock.nowMs();
      const firsts = [...new Map([...keys].reverse().map((key) => [nameOf(key), key])).values()];
      const canceled = await cancelAll(tx, firsts, nowMs);
      const first = new Set(firsts);
      const recordOf = (key: VerificationKey) => (first.has(key) ? canceled.get(key.id) : undefined);
      const left = keys.filter((key) => recordOf(key) === undefined);
      const found = left.length === 0 ? [] : await findByKeys(tx, left);
      const refusals = new Map(left.map((key, index) => [key, refusalOf(found[index], nowMs)]));
      return keys.map((key) => recordOf(key) ?? refusals.get(key) ?? notFound());
    },
  });
}

/** Another application may send the same id: it must not come before the owner. */
const nameOf = ({ applicationId, id }: VerificationKey) => `${applicationId} ${id}`;
