// Tests: test/contract/verification-outcomes.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import type { VerificationAndText } from '../texts/newest-texts.ts';
import { asOf, type Outcome, type Verification } from '../verification.ts';
import { findByKeys, type VerificationKey } from '../verification-store.ts';
import { putOutcome } from './outcome-store.ts';

/**
 * Takes the result of a code that the caller made and checked itself. While pending, the verification ends by it; after
 * the expiry it stays expired and the result is counted. The same result may be reported again.
 */
export function createOutcomes(database: Database, clock: Clock) {
  return async (key: VerificationKey, outcome: Outcome): Promise<VerificationAndText> => {
    const nowMs = clock.nowMs();
    await putOutcome(database, key, outcome, nowMs);
    // Answer with the row, also when an earlier call has already reported this outcome.
    const [found] = await findByKeys(database, [key]);
    if (found === undefined) throw notFound();
    const row = asOf(found.row, nowMs);
    const refusal = refusalOf(row, outcome);
    if (refusal !== undefined) throw new ApiError('INCOMPATIBLE_STATE', refusal);
    return { ...found, row };
  };
}

function refusalOf(row: Verification, outcome: Outcome): string | undefined {
  if (row.codeHash === null) return 'The verification has no code of yours. Check its code instead.';
  const known = row.outcome ?? row.status;
  return known === outcome ? undefined : `The verification is ${known} and takes no other outcome.`;
}
